import { IconButton } from "../../../components/Button";
import { CloseIcon, FileIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import type { TextFile } from "../images/text-files";
import { visible } from "../text/visible";

/** The text files that go with the next prompt, each with a button that removes it. */
export function AttachedFiles({ files, onRemove }: { files: TextFile[]; onRemove: (file: TextFile) => void }) {
  if (files.length === 0) {
    return null;
  }
  return (
    <ul
      data-testid="attached-files"
      data-unsent
      aria-label={t("chat.attached.filesOfThisMessage")}
      className="flex flex-wrap gap-2 px-3.5 pt-3"
    >
      {files.map((file, i) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: two files may have the same name
          key={i}
          className="flex min-w-0 max-w-full items-center gap-1.5 rounded-md border border-line bg-sunken pl-2.5 text-sm"
        >
          <FileLabel file={file} />
          <IconButton label={t("chat.attached.remove", { name: file.name })} onClick={() => onRemove(file)}>
            <CloseIcon />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

/** The text files of a prompt. Their text is shown when they are opened. */
export function SentFiles({ files }: { files: TextFile[] }) {
  return files.map((file, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a name may stand there twice, and none moves
    <details key={i} data-testid="sent-file" className="my-2 min-w-0 rounded-md border border-line bg-surface text-sm">
      <summary className="touchable flex cursor-pointer items-center gap-1.5 rounded-md px-2.5 py-1.5">
        <FileLabel file={file} />
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard */}
      <pre tabIndex={0} dir="auto" className="max-h-80 overflow-auto border-line border-t px-3 py-2 font-mono text-xs">
        {visible(file.text)}
      </pre>
    </details>
  ));
}

function FileLabel({ file }: { file: TextFile }) {
  return (
    <>
      <FileIcon className="shrink-0 text-faint" />
      <span dir="auto" className="min-w-0 truncate">
        {visible(file.name)}
      </span>
      <span className="shrink-0 text-faint text-xs tabular-nums">
        {t("chat.attached.lines", { count: file.text === "" ? 0 : file.text.split("\n").length })}
      </span>
    </>
  );
}
