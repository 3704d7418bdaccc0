import { Fragment, type ReactNode, useMemo } from "react";
import { cx } from "../../../components/cx";
import { t } from "../../../i18n/chat";
import { type FilePlace, useFiles } from "../context/files-context";
import { filePlace, mentionsIn } from "./file-place";
import { visible } from "./visible";

export interface FileLinkProps {
  place: FilePlace;
  /** Stands on a line of its own: a finger needs room. */
  alone?: boolean;
  children: ReactNode;
}

/** Opens a file at a line, from within a text. */
export function FileLink({ place, alone = false, children }: FileLinkProps) {
  const files = useFiles();
  const path = visible(place.path);
  return (
    <button
      type="button"
      data-testid="file-link"
      className={cx("file-link", alone && "file-link-alone")}
      title={place.line > 0 ? t("chat.text.openAtLine", { path, line: place.line }) : t("chat.text.openFile", { path })}
      onClick={() => files?.open(place)}
    >
      {children}
    </button>
  );
}

/** Code within a text. One that names a file of the project opens it. */
export function InlineCode({ children }: { children?: ReactNode }) {
  const files = useFiles();
  const place = files && typeof children === "string" ? filePlace(children, files.folder) : null;
  return place ? (
    <FileLink place={place}>
      <code>{children}</code>
    </FileLink>
  ) : (
    <code>{children}</code>
  );
}

/** How many links an output has at most. */
const maxLinks = 500;

/** Output in which files with lines, such as "client.go:42", can be opened. */
export function LinkedText({ text }: { text: string }) {
  const files = useFiles();
  const parts = useMemo(() => (files ? mentionsIn(text, files.folder, maxLinks) : [text]), [files, text]);
  return parts.map((part, i) =>
    typeof part === "string" ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other name
      <Fragment key={i}>{part}</Fragment>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: nor have the links in it
      <FileLink key={i} place={part.place}>
        {part.text}
      </FileLink>
    ),
  );
}
