import { memo, useMemo, useState } from "react";
import { KeepOpenContext, type ReadFold } from "../context/live-context";
import { foldsOf, type RowFold } from "./folds";
import { RowPlace, type Writer } from "./RowPlace";
import { RowNames } from "./row-names";
import type { Row } from "./rows";

/** The style of a row that a search found. */
const soughtStyle = "-mx-3 my-1 rounded-lg bg-accent-soft/50 px-3 py-2 ring-1 ring-accent/40";

export interface RowsProps {
  rows: readonly Row[];
  /** The index of the first row to show, and the index after the last one. */
  first: number;
  last: number;
  /** The key of the row that a search found. */
  sought: string | undefined;
  /** The id of this browser. */
  me: string | undefined;
  /** Streams an answer below the last row. */
  writer?: Writer | null;
}

/**
 * A part of the rows, and the streaming answer. The rows do not change meanwhile; once the answer has ended, its row
 * takes over its place and its elements.
 */
export const Rows = memo(function Rows({ rows, first, last, sought, me, writer = null }: RowsProps) {
  const shown = useMemo(() => rows.slice(first, last), [rows, first, last]);
  const { folds, foldOf, keep } = useFolds(shown, sought);
  const [names] = useState(() => new RowNames());
  const written = useMemo(() => names.update(rows, writer !== null), [names, rows, writer]);
  return (
    <KeepOpenContext value={keep}>
      {[...shown, ...(writer ? [null] : [])].map((row, i) => (
        <div
          key={row ? names.of(row.key) : written}
          data-row={row?.key}
          className={row && row.key === sought ? soughtStyle : undefined}
        >
          <RowPlace
            row={row}
            writer={row ? null : writer}
            previous={rows[first + i - 1]}
            me={me}
            fold={row ? foldOf(row.key, folds.get(row.key)) : null}
          />
        </div>
      ))}
    </KeepOpenContext>
  );
});

/** Which rows are folded together, and which folds are open. */
function useFolds(rows: readonly Row[], sought: string | undefined) {
  const folds = useMemo(() => foldsOf(rows), [rows]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [closed, setClosed] = useState<string | undefined>(undefined);
  const [keep] = useState(() => (element: Element) => {
    const key = element.closest("[data-row]")?.getAttribute("data-row");
    if (key) {
      setOpen((keys) => (keys.has(key) ? keys : new Set([...keys, key])));
    }
  });
  const foldOf = (key: string, fold: RowFold | undefined): ReadFold | null => {
    if (!fold) {
      return null;
    }
    const { keys, calls } = fold;
    const leads = sought !== undefined && sought !== closed && keys.includes(sought);
    const isOpen = leads || keys.some((each) => open.has(each));
    const toggle = () => {
      setOpen(new Set(isOpen ? [...open].filter((each) => !keys.includes(each)) : [...open, keys[0] ?? key]));
      setClosed(isOpen && leads ? sought : undefined);
    };
    return { head: keys[0] === key, open: isOpen, calls, toggle };
  };
  return { folds, foldOf, keep };
}
