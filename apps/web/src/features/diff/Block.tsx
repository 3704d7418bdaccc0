import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from "react";
import { cx } from "../../components/cx";
import { ChevronDownIcon } from "../../components/icons";
import { t } from "../../i18n/diff";
import { visible } from "../shared/visible";
import type { Colors } from "./colors";
import { compareWords, type Piece } from "./compare";
import { LineText } from "./LineText";
import type { DiffLine } from "./model";
import { type DiffRow, linesOf } from "./rows";

/** A line of a file, as passed to callbacks. */
export interface LinePlace {
  path: string;
  side: "old" | "new";
  line: number;
  text: string;
}

export interface BlockProps {
  rows: readonly DiffRow[];
  colors: Colors;
  /** Whether every line ends with a carriage return, which is then not shown. */
  crlf: boolean;
  /** How many cells a row has. */
  cells: number;
  onFold: (key: string) => void;
  /** Makes lines selectable. */
  onLine: ((line: DiffLine, side: "old" | "new") => void) | undefined;
  /** Renders the content below a line. */
  below: ((line: DiffLine) => ReactNode) | undefined;
  /** Reports whether a line was sought. */
  sought?: ((line: DiffLine) => boolean) | undefined;
}

/** Some rows of a file. It renders again only when one of them changes. */
export const Block = memo(function Block({ rows, colors, ...props }: BlockProps) {
  const lines = useMemo(() => rows.flatMap(linesOf), [rows]);
  const subscribe = useCallback((listener: () => void) => colors.subscribe(lines, listener), [colors, lines]);
  useSyncExternalStore(subscribe, () => colors.count(lines));
  const words = useMemo(() => wordsOf(rows), [rows]);
  const body = useRef<HTMLTableSectionElement>(null);
  useLayoutEffect(() => laidOutAtOnce(body.current), []);
  return (
    <tbody ref={body} className="diff-block" style={{ "--rows": rows.length } as object}>
      {rows.map((row) => (
        <Row key={row.key} row={row} colors={colors} words={words} {...props} />
      ))}
    </tbody>
  );
});

/** Has new rows laid out even out of sight, so that their real height is known before the reader comes to them. */
function laidOutAtOnce(body: HTMLElement | null): (() => void) | undefined {
  if (!body) {
    return;
  }
  body.style.contentVisibility = "visible";
  // The first frame lays them out.
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(() => {
      body.style.contentVisibility = "";
    });
  });
  return () => cancelAnimationFrame(frame);
}

/** Returns the changes within lines that have a counterpart. */
function wordsOf(rows: readonly DiffRow[]): Map<DiffLine, readonly Piece[]> {
  const words = new Map<DiffLine, readonly Piece[]>();
  for (const row of rows) {
    const [a, b] =
      row.kind === "line" ? [row.line, row.twin] : row.kind === "pair" && row.twins ? [row.left, row.right] : [];
    if (!a || !b || words.has(a)) {
      continue;
    }
    const [before, after] = a.kind === "removed" ? [a, b] : [b, a];
    const found = compareWords(before.text, after.text);
    if (found) {
      words.set(before, found.before);
      words.set(after, found.after);
    }
  }
  return words;
}

interface RowProps extends Omit<BlockProps, "rows"> {
  row: DiffRow;
  words: ReadonlyMap<DiffLine, readonly Piece[]>;
}

function Row({ row, ...props }: RowProps) {
  switch (row.kind) {
    case "fold":
      return (
        <tr className="diff-rest">
          <td colSpan={props.cells}>
            <button type="button" data-testid="diff-fold" onClick={() => props.onFold(row.key)}>
              <ChevronDownIcon className="text-base" />
              {t("diff.showUnchanged", { count: row.count })}
            </button>
          </td>
        </tr>
      );
    case "gap":
      return (
        <tr className="diff-rest">
          <td colSpan={props.cells} className="diff-gap">
            {row.count > 0 ? <span>{t("diff.notShown", { count: row.count })}</span> : null}
            {row.heading ? <code>{row.heading}</code> : row.count > 0 ? null : <span aria-hidden="true">⋯</span>}
          </td>
        </tr>
      );
    case "line":
      return <LineRow line={row.line} {...props} />;
    case "pair":
      return <PairRow left={row.left} right={row.right} {...props} />;
  }
}

type LineRowProps = Omit<RowProps, "row"> & { line: DiffLine };

function LineRow({ line, ...props }: LineRowProps) {
  if (line.kind === "note") {
    return (
      <tr className="diff-rest">
        <td colSpan={props.cells} className="diff-gap">
          <span>{visible(line.text)}</span>
        </td>
      </tr>
    );
  }
  return (
    <>
      <tr
        className={cx("diff-row", line.kind)}
        aria-current={props.sought?.(line) || undefined}
        {...choosing(props, line, line.new > 0 ? "new" : "old")}
      >
        <LineNumber value={line.old} className="diff-old" />
        <LineNumber value={line.new} className="diff-new" />
        <Side line={line} {...props} />
      </tr>
      <Below line={line} {...props} />
    </>
  );
}

type PairRowProps = Omit<RowProps, "row"> & { left: DiffLine | null; right: DiffLine | null };

function PairRow({ left, right, ...props }: PairRowProps) {
  const line = right ?? left;
  return (
    <>
      <tr className="diff-row diff-pair" {...(line ? choosing(props, line, right ? "new" : "old") : {})}>
        <LineNumber value={left?.old ?? 0} className={left?.kind ?? "diff-none"} />
        <Side line={left} {...props} />
        <LineNumber value={right?.new ?? 0} className={right?.kind ?? "diff-none"} />
        <Side line={right} {...props} />
      </tr>
      <Below line={right} {...props} />
      {left === right ? null : <Below line={left} {...props} />}
    </>
  );
}

/** The content below a line, in its own row. */
function Below({ line, below, cells }: Pick<RowProps, "below" | "cells"> & { line: DiffLine | null }) {
  const node = line && below?.(line);
  return node ? (
    <tr className="diff-below">
      <td colSpan={cells}>{node}</td>
    </tr>
  ) : null;
}

/** Returns the attributes of a row that can be selected by mouse and keyboard; the table moves the focus. */
function choosing({ onLine }: Pick<BlockProps, "onLine">, line: DiffLine, side: "old" | "new") {
  if (!onLine) {
    return {};
  }
  return {
    tabIndex: -1,
    "data-choice": "",
    onClick: () => {
      if (window.getSelection()?.isCollapsed ?? true) {
        onLine(line, side);
      }
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "Enter" && event.target === event.currentTarget) {
        event.preventDefault();
        onLine(line, side);
      }
    },
  };
}

function LineNumber({ value, className }: { value: number; className?: string | undefined }) {
  return <td className={cx("diff-no", className)}>{value > 0 ? value : null}</td>;
}

/** The kind of a change and the text of a line. The kind is never shown by color alone. */
function Side({ line, colors, words, crlf }: Pick<RowProps, "colors" | "words" | "crlf"> & { line: DiffLine | null }) {
  if (!line) {
    return (
      <>
        <td className="diff-none" />
        <td className="diff-none" />
      </>
    );
  }
  const { kind, text } = line;
  const tokens = colors.of(line);
  const shown = crlf && text.endsWith("\r") ? text.slice(0, -1) : text;
  return (
    <>
      <td className={cx("diff-sign", kind)}>
        {kind === "added" ? (
          <span role="img" aria-label={t("diff.added")}>
            +
          </span>
        ) : kind === "removed" ? (
          <span role="img" aria-label={t("diff.removed")}>
            −
          </span>
        ) : null}
      </td>
      <td dir="ltr" className={cx("diff-text", kind)}>
        <LineText text={shown} tokens={tokens} pieces={words.get(line)} mark={kind === "removed" ? "del" : "ins"} />
      </td>
    </>
  );
}
