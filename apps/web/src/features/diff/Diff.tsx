import { type ReactNode, useMemo, useState } from "react";
import { Button, IconButton } from "../../components/Button";
import { CopyButton } from "../../components/CopyButton";
import { cx } from "../../components/cx";
import { SplitIcon } from "../../components/icons";
import { t } from "../../i18n/diff";
import type { LinePlace } from "./Block";
import { compareTexts } from "./compare";
import { FileDiff } from "./FileDiff";
import type { DiffFile, ParsedDiff } from "./model";
import { parseDiff, READ_LINES } from "./parse";
import { useSideBySide } from "./side-by-side";
import { isPatch, parsePatch } from "./v4a";
import "./diff.css";

/** The change to show: a unified diff or a patch of any number of files, or two versions of one. */
export type DiffInput = { diff: string } | DiffVersions;

/** Two versions of a file; null for a file that does not exist. */
export interface DiffVersions {
  path: string;
  before: string | null;
  after: string | null;
  /** Whether they are a part of the file whose position is unknown. */
  part?: boolean;
}

export interface DiffProps {
  of: DiffInput;
  /** How many rows of a file are shown until a person expands it. */
  rows?: number | undefined;
  /** Whether its surroundings name the file and count its lines. Several files have their headings all the same. */
  bare?: boolean | undefined;
  /** Classes of the box. A scrolling box can be focused with the keyboard. */
  className?: string | undefined;
  /** Buttons in the heading of a file. */
  actions?: ((file: DiffFile) => ReactNode) | undefined;
  /** Makes lines selectable, with a click, or with the arrow keys and Enter. */
  onLine?: ((place: LinePlace) => void) | undefined;
  /** Content shown below a line. */
  below?: { place: LinePlace; node: ReactNode } | null | undefined;
}

/** How many files are open at first, and how many are listed until a person expands the list. */
const openFiles = 5;
const listedFiles = 50;

/** Shows changes of files. It accepts any text and executes nothing. */
export function Diff({ of, rows = 24, bare = false, className, actions, onLine, below }: DiffProps) {
  const [limit, setLimit] = useState(READ_LINES);
  const [listed, setListed] = useState(listedFiles);
  const { files, unread } = useRead(of, limit);
  const { possible, on, toggle } = useSideBySide();
  const sides = files.some(({ added, removed }) => added > 0 && removed > 0);
  const more = files.length - listed;
  const tools = (
    <span className="-mr-2 flex shrink-0">
      {possible && sides ? (
        <IconButton
          label={t("diff.sideBySide")}
          aria-pressed={on}
          data-testid="diff-split"
          onClick={toggle}
          className={cx(on && "text-accent!")}
        >
          <SplitIcon />
        </IconButton>
      ) : null}
      <CopyButton
        text={"diff" in of ? of.diff : (of.after ?? of.before ?? "")}
        label={"diff" in of ? t("diff.copy") : t("diff.copyTheText")}
      />
    </span>
  );
  return (
    <figure data-testid="diff" aria-label={t("diff.changes")} className={cx("diff", on && sides && "diff-wide")}>
      <div className={className} tabIndex={className ? 0 : undefined}>
        {files.slice(0, listed).map((file, i) => (
          <FileDiff
            // biome-ignore lint/suspicious/noArrayIndexKey: a diff may name a file twice
            key={i}
            file={file}
            split={on}
            rows={rows}
            bare={bare && files.length === 1}
            counted={"diff" in of || of.before === null}
            tools={i === 0 ? tools : null}
            startsOpen={i < openFiles}
            actions={actions}
            onLine={onLine}
            below={below}
          />
        ))}
        {files.length === 0 ? <p className="diff-note">{t("diff.noChanges")}</p> : null}
      </div>
      {more > 0 ? (
        <More onClick={() => setListed(listed + listedFiles)}>{t("diff.showMoreFiles", { more })}</More>
      ) : unread > 0 ? (
        <More onClick={() => setLimit(limit + READ_LINES)}>{t("diff.showUnread", { unread })}</More>
      ) : null}
    </figure>
  );
}

function More({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Button
      tone="quiet"
      className="w-full rounded-none border-0 border-line border-t text-xs"
      data-testid="diff-unread"
      onClick={onClick}
    >
      {children}
    </Button>
  );
}

/** Parses a diff; already parsed parts keep their identity. */
function useRead(of: DiffInput, limit: number): ParsedDiff {
  const { diff, path, before, after, part } = { diff: null, path: "", before: null, after: null, part: false, ...of };
  return useMemo(() => {
    if (diff === null) {
      return { files: [compareTexts(path, before, after, part)], unread: 0 };
    }
    return isPatch(diff) ? parsePatch(diff, limit) : parseDiff(diff, limit);
  }, [diff, path, before, after, part, limit]);
}
