import { Fragment, type ReactNode, useMemo } from "react";
import { cx } from "../../../components/cx";
import { t } from "../../../i18n/chat";
import { visible } from "../../shared/visible";
import { type FilePlace, useFiles } from "../context/files-context";
import { filePlace, mentionsIn } from "./file-place";

export interface FileLinkProps {
  place: FilePlace;
  /** Whether it is on a line of its own, where a finger needs room. */
  alone?: boolean;
  children: ReactNode;
}

/** A link in a text that opens a file at a line. */
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

/** Inline code. If it names a file of the project, it opens the file. */
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

/** The maximum number of links in an output. */
const maxLinks = 500;

/** Output with links for files with lines, such as "client.go:42". */
export function LinkedText({ text }: { text: string }) {
  const files = useFiles();
  const parts = useMemo(() => (files ? mentionsIn(text, files.folder, maxLinks) : [text]), [files, text]);
  return parts.map((part, i) =>
    typeof part === "string" ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other key
      <Fragment key={i}>{part}</Fragment>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: neither have the links in it
      <FileLink key={i} place={part.place}>
        {part.text}
      </FileLink>
    ),
  );
}
