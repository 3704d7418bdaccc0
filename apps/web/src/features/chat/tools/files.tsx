import { IconButton } from "../../../components/Button";
import { FileIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import type { DiffFile } from "../../diff/model";
import { visible } from "../../shared/visible";
import { useFiles } from "../context/files-context";
import { FileLink } from "../text/FileLink";
import { filePlace } from "../text/file-place";

/** The file of a call, opened at the first line that it reads. */
export function PathLine({ path, rest }: { path: string; rest: readonly [name: string, value: string][] }) {
  const files = useFiles();
  const place = files && filePlace(path, files.folder);
  if (!place) {
    return null;
  }
  const first = Number(rest.find(([name]) => name === "offset")?.[1]);
  const line = Number.isSafeInteger(first) && first > 0 ? first : 0;
  return (
    <p dir="ltr" className="font-mono text-[0.8125rem]">
      <FileLink alone place={{ path: place.path, line, end: line }}>
        {visible(path)}
      </FileLink>
    </p>
  );
}

/** Opens a file of a diff at its first change. `part` means that the lines of the diff are not those of the file. */
export function OpenFile({ file, part = false }: { file: DiffFile; part?: boolean | undefined }) {
  const files = useFiles();
  const place = files && file.change !== "removed" ? filePlace(file.path, files.folder) : null;
  if (!files || !place) {
    return null;
  }
  const changed = part ? undefined : file.hunks[0]?.lines.find(({ kind, new: at }) => kind === "added" && at > 0);
  const line = changed?.new ?? 0;
  return (
    <IconButton
      label={t("chat.text.openFile", { path: visible(place.path) })}
      data-testid="open-file"
      onClick={() => files.open({ path: place.path, line, end: line })}
    >
      <FileIcon />
    </IconButton>
  );
}
