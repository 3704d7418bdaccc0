import { memo } from "react";
import { RowView } from "./RowView";
import type { Row } from "./rows";

/** Of the row that a search led to. */
const soughtStyle = "-mx-3 my-1 rounded-lg bg-accent-soft/50 px-3 py-2 ring-1 ring-accent/40";

export interface RowsProps {
  rows: readonly Row[];
  /** The index of the first row to show, and that after the last one. */
  first: number;
  last: number;
  /** The key of the row that a search led to. */
  sought: string | undefined;
  /** The id of this browser. */
  me: string | undefined;
}

/** A part of the rows. It stands still while an answer is written below it. */
export const Rows = memo(function Rows({ rows, first, last, sought, me }: RowsProps) {
  return rows.slice(first, last).map((row, i) => (
    <div key={row.key} data-row={row.key} className={row.key === sought ? soughtStyle : undefined}>
      <RowView row={row} previous={rows[first + i - 1]} me={me} />
    </div>
  ));
});
