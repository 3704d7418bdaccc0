import { IconButton } from "../../../components/Button";
import { CloseIcon, FileIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { sizeText } from "../../shared/size-text";
import { visible } from "../../shared/visible";
import type { FileInText } from "../images/text-files";

/** A file that this browser will send. */
export interface FileToSend {
  name: string;
  blob: Blob;
}

type AnyFile = FileInText | FileToSend;

const chip = "flex min-w-0 max-w-full items-center gap-1.5 rounded-md border border-line bg-sunken pl-2.5 text-sm";

/** The files attached to the next prompt, each with a button that removes it. */
export function AttachedFiles<T extends AnyFile>({ files, onRemove }: { files: T[]; onRemove: (file: T) => void }) {
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
          className={chip}
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

/** The files of a prompt. A text file can be opened to show its text; the agent reads other files by path. */
export function SentFiles({ files }: { files: FileInText[] }) {
  return files.map((file, i) =>
    "text" in file ? (
      <details
        // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and the order never changes
        key={i}
        data-testid="sent-file"
        className="my-2 min-w-0 rounded-md border border-line bg-surface text-sm"
      >
        <summary className="touchable flex cursor-pointer items-center gap-1.5 rounded-md px-2.5 py-1.5">
          <FileLabel file={file} />
        </summary>
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling boxes must be reachable by keyboard
          tabIndex={0}
          dir="auto"
          className="max-h-80 overflow-auto border-line border-t px-3 py-2 font-mono text-xs"
        >
          {visible(file.text)}
        </pre>
      </details>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and the order never changes
      <FileChip key={i} file={file} />
    ),
  );
}

/** The name and size of a prompt's file. */
export function FileChip({ file }: { file: AnyFile }) {
  return (
    <p
      data-testid="sent-file"
      title={"path" in file ? visible(file.path) : undefined}
      className={`${chip} my-2 w-fit bg-surface! py-2 pr-2.5`}
    >
      <FileLabel file={file} />
    </p>
  );
}

function FileLabel({ file }: { file: AnyFile }) {
  return (
    <>
      <FileIcon className="shrink-0 text-faint" />
      <span dir="auto" className="min-w-0 truncate">
        {visible(file.name)}
      </span>
      <span className="shrink-0 text-faint text-xs tabular-nums">{amountOf(file)}</span>
    </>
  );
}

function amountOf(file: AnyFile): string {
  if ("text" in file) {
    return t("chat.attached.lines", { count: file.text === "" ? 0 : file.text.split("\n").length });
  }
  return sizeText("blob" in file ? file.blob.size : file.size);
}
