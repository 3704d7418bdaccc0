import { type ReactNode, useContext, useEffect, useId, useMemo, useState } from "react";
import { Button } from "../../components/Button";
import { cx } from "../../components/cx";
import { ChevronRightIcon } from "../../components/icons";
import { t } from "../../i18n/diff";
import { languageOf } from "../code/language";
import { HighlightingContext } from "../code/use-highlighted";
import { visible } from "../shared/visible";
import type { LinePlace } from "./Block";
import { BlockInSight, BlocksInSight } from "./BlockInSight";
import { Counts } from "./Counts";
import { Colors } from "./colors";
import { firstRows, inBlocks, inGroups, moveFocus } from "./drawing";
import type { DiffFile, DiffLine } from "./model";
import { linesOf, rowsOf } from "./rows";

/** How many blocks are rendered at once, so that a partly shown diff does not visibly grow. */
const atOnce = 2;

/** How many more rows are shown on each request. */
const moreRows = 2000;

export interface FileDiffProps {
  file: DiffFile;
  /** Side by side, if both versions have lines. */
  split: boolean;
  /** How many rows are shown until a person asks for more. */
  rows: number;
  /** Omits its name. */
  bare: boolean;
  /** Whether its surroundings show the line counts. */
  counted: boolean;
  /** Buttons for all of the changes. */
  tools: ReactNode;
  startsOpen: boolean;
  /** Buttons in the heading. */
  actions: ((file: DiffFile) => ReactNode) | undefined;
  onLine: ((place: LinePlace) => void) | undefined;
  below: { place: LinePlace; node: ReactNode } | null | undefined;
}

/** The changes of one file. */
export function FileDiff({
  file,
  split,
  rows,
  bare,
  counted,
  tools,
  startsOpen,
  actions,
  onLine,
  below,
}: FileDiffProps) {
  const [open, setOpen] = useState(startsOpen);
  const body = useId();
  const heading = file.from ? t("diff.renamed", { from: visible(file.from), to: visible(file.path) }) : null;
  return (
    <section className="diff-file" data-testid="diff-file" data-change={file.change}>
      <div className="diff-head">
        {bare ? (
          <span className="flex-1">{counted ? null : <Counts file={file} />}</span>
        ) : (
          <button
            type="button"
            aria-expanded={open}
            aria-controls={open ? body : undefined}
            onClick={() => setOpen(!open)}
            className="touchable flex min-w-0 flex-1 items-center gap-2 text-left"
          >
            <ChevronRightIcon className={cx("text-faint transition-transform", open && "rotate-90")} />
            <span dir="ltr" className="diff-path">
              {heading ?? visible(file.path || t("diff.withoutAName"))}
            </span>
            <Counts file={file} />
          </button>
        )}
        {actions?.(file)}
        {tools}
      </div>
      {open ? (
        <div id={body}>
          <Body file={file} split={split} rows={rows} onLine={onLine} below={below} />
        </div>
      ) : null}
    </section>
  );
}

type BodyProps = Pick<FileDiffProps, "file" | "split" | "rows" | "onLine" | "below">;

function Body({ file, split, rows: first, onLine, below }: BodyProps) {
  const sides = split && file.added > 0 && file.removed > 0;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [limit, setLimit] = useState(first);
  const rows = useMemo(() => rowsOf(file, { split: sides, open }), [file, sides, open]);
  const most = rows.length <= limit + 4 ? rows.length : limit;
  const all = useMemo(() => inBlocks(rows), [rows]);
  const blocks = useMemo(() => firstRows(all, most), [all, most]);
  const groups = useMemo(() => inGroups(blocks), [blocks]);
  const colors = useColors(file);
  const facts = useMemo(() => factsOf(file), [file]);
  const choose = useMemo(
    () =>
      onLine
        ? (line: DiffLine, side: "old" | "new") => onLine({ path: file.path, side, line: line[side], text: line.text })
        : undefined,
    [file, onLine],
  );
  const place = below?.place.path === file.path ? below.place : null;
  // Only the block with this line is rendered again.
  const commented = useMemo(
    () =>
      place
        ? blocks.findIndex((block) => block.some((row) => linesOf(row).some((line) => line[place.side] === place.line)))
        : -1,
    [blocks, place],
  );
  const under = (line: DiffLine) => (place && line[place.side] === place.line ? below?.node : null);
  const [fold] = useState(() => (key: string) => setOpen((keys) => new Set([...keys, key])));
  const hidden = rows.length - most;
  const cells = sides ? 6 : 4;
  return (
    <>
      {file.notes.map((note) => (
        <p key={note} className="diff-note">
          {visible(note)}
        </p>
      ))}
      {rows.length === 0 ? (
        file.notes.length > 0 ? null : (
          <p className="diff-note">{t("diff.noLines")}</p>
        )
      ) : (
        <table
          aria-label={t("diff.changesIn", { path: visible(file.path || t("diff.withoutAName")) })}
          className={cx("diff-table", facts.numbers === 0 && "diff-plain")}
          style={{ "--digits": facts.numbers } as object}
          // The arrow keys move from here to the lines.
          tabIndex={choose ? 0 : undefined}
          onKeyDown={choose ? moveFocus : undefined}
        >
          <Columns sides={sides} />
          {groups.map(({ from, group, rows }) => (
            <BlocksInSight
              key={group[0]?.[0]?.key}
              rows={rows}
              now={from === 0 || (commented >= from && commented < from + group.length)}
            >
              {() =>
                group.map((block, i) => (
                  <BlockInSight
                    key={block[0]?.key}
                    now={from + i < atOnce || from + i === commented}
                    rows={block}
                    colors={colors}
                    crlf={facts.crlf}
                    cells={cells}
                    onFold={fold}
                    onLine={choose}
                    below={from + i === commented ? under : undefined}
                  />
                ))
              }
            </BlocksInSight>
          ))}
        </table>
      )}
      {hidden > 0 ? (
        <Button
          tone="quiet"
          data-testid="diff-more"
          className="w-full rounded-none border-0 border-line border-t text-xs"
          onClick={() => setLimit(limit + moreRows)}
        >
          {t("diff.showMore", { hidden })}
        </Button>
      ) : null}
    </>
  );
}

/** Names the columns for screen readers. */
function Columns({ sides }: { sides: boolean }) {
  const one = [t("diff.change"), t("diff.text")];
  const names = sides
    ? [t("diff.oldLine"), ...one, t("diff.newLine"), ...one]
    : [t("diff.oldLine"), t("diff.newLine"), ...one];
  return (
    <thead className="sr-only">
      <tr>
        {names.map((name, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: both versions have columns of the same names
          <th key={i} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function useColors(file: DiffFile): Colors {
  const highlighting = useContext(HighlightingContext);
  const colors = useMemo(() => ({ of: file, colors: new Colors() }), [file]).colors;
  useEffect(() => {
    const language = languageOf(file.path);
    if (!highlighting || !language) {
      return;
    }
    const gone = new AbortController();
    // Without its grammar the code stays plain, which is readable.
    colors.color(file.hunks, language, highlighting, gone.signal).catch(() => {});
    return () => gone.abort();
  }, [file, colors, highlighting]);
  return colors;
}

/** Returns the number of digits of its line numbers, and whether all of its lines end with a carriage return. */
function factsOf({ hunks }: DiffFile): { numbers: number; crlf: boolean } {
  let largest = 0;
  let crlf = true;
  for (const { lines } of hunks) {
    for (const line of lines) {
      largest = Math.max(largest, line.old, line.new);
      crlf &&= line.kind === "note" || line.text.endsWith("\r");
    }
  }
  return { numbers: largest === 0 ? 0 : String(largest).length, crlf };
}
