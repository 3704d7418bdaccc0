import { useContext, useEffect, useMemo, useRef, useState } from "react";
import { t } from "../../../i18n/changes";
import { languageOf } from "../../code/language";
import { HighlightingContext } from "../../code/use-highlighted";
import type { LinePlace } from "../../diff/Block";
import { BlockInSight } from "../../diff/BlockInSight";
import { Colors } from "../../diff/colors";
import { blockRows, inBlocks, moveFocus } from "../../diff/drawing";
import type { DiffLine } from "../../diff/model";
import type { DiffRow } from "../../diff/rows";
import { visible } from "../../shared/visible";
import "../../diff/diff.css";
import { CommentForm } from "../CommentForm";
import { quoteOf } from "../quote";

export interface FileLinesProps {
  path: string;
  lines: readonly DiffLine[];
  /** The line to scroll to, from 1; 0 for none. */
  line: number;
  end: number;
  onPrompt: ((text: string) => void) | null;
}

/** The lines of a file, numbered and highlighted. Lines can be commented on. Rows far out of view are not rendered. */
export function FileLines({ path, lines, line, end, onPrompt }: FileLinesProps) {
  const [place, setPlace] = useState<LinePlace | null>(null);
  const table = useRef<HTMLTableElement>(null);
  const blocks = useMemo(() => inBlocks(lines.map(rowOf)), [lines]);
  const colors = useColors(path, lines);
  const crlf = useMemo(() => lines.every(({ text }) => text.endsWith("\r")), [lines]);
  const choose = useMemo(
    () =>
      onPrompt ? ({ new: number, text }: DiffLine) => setPlace({ path, side: "new", line: number, text }) : undefined,
    [path, onPrompt],
  );
  const sought = useMemo(
    () =>
      ({ new: number }: DiffLine) =>
        number >= line && number <= end,
    [line, end],
  );
  const there = line > 0 && line <= lines.length;
  useEffect(() => {
    const row = there ? table.current?.querySelector<HTMLElement>("[aria-current]") : null;
    row?.scrollIntoView({ block: "center" });
    row?.focus({ preventScroll: true });
  }, [there]);
  const below = ({ new: number }: DiffLine) =>
    place && number === place.line ? (
      <CommentForm
        line={place.line}
        onCancel={() => setPlace(null)}
        onComment={(comment) => {
          onPrompt?.(quoteOf(place, comment));
          setPlace(null);
        }}
      />
    ) : null;
  return (
    <div dir="ltr" data-testid="file-text" className="diff overflow-hidden rounded-md border border-line">
      <table
        ref={table}
        aria-label={visible(path)}
        className="diff-table diff-code py-1"
        style={{ "--digits": String(lines.length).length } as object}
        // The arrow keys move from here to the lines.
        tabIndex={choose ? 0 : undefined}
        onKeyDown={choose ? moveFocus : undefined}
      >
        <thead className="sr-only">
          <tr>
            <th scope="col">{t("changes.line")}</th>
            <th scope="col">{t("changes.text")}</th>
          </tr>
        </thead>
        {blocks.map((rows, i) => (
          <BlockInSight
            key={rows[0]?.key}
            rows={rows}
            colors={colors}
            crlf={crlf}
            cells={2}
            onFold={noFold}
            onLine={choose}
            // Only the blocks with these lines are rendered again.
            below={place && onPrompt && blockOf(place.line) === i ? below : undefined}
            sought={line > 0 && blockOf(line) <= i && i <= blockOf(end) ? sought : undefined}
            now={i === 0 || blockOf(line) === i}
          />
        ))}
      </table>
    </div>
  );
}

const noFold = () => {};

function blockOf(line: number): number {
  return Math.floor((line - 1) / blockRows);
}

function rowOf(line: DiffLine): DiffRow {
  return { kind: "line", key: String(line.new), line, twin: null };
}

/** Highlights the lines; those of later parts continue where the ones before them ended. */
function useColors(path: string, lines: readonly DiffLine[]): Colors {
  const highlighting = useContext(HighlightingContext);
  const [colors] = useState(() => new Colors());
  const done = useRef<{ lines: number; state: unknown }>({ lines: 0, state: undefined });
  useEffect(() => {
    const language = languageOf(path);
    if (!highlighting || !language) {
      return;
    }
    const gone = new AbortController();
    const hunk = { heading: "", lines: lines.slice(done.current.lines) };
    colors
      .color([hunk], language, highlighting, gone.signal, done.current.state)
      .then((state) => {
        if (!gone.signal.aborted) {
          done.current = { lines: lines.length, state };
        }
      })
      .catch(() => {}); // without its grammar the code stays plain, which is readable
    return () => gone.abort();
  }, [path, lines, colors, highlighting]);
  return colors;
}
