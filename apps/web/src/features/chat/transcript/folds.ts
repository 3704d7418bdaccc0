// Consecutive rows that only read: all of their calls are one line.
import { blocksOf } from "@scorel/protocol/tree";
import type { ToolCallBlock } from "../../../api/types";
import { readRuns } from "../calls/reads";
import type { Row } from "./rows";

export interface RowFold {
  /** The keys of the rows that are folded together; the first one shows the line. */
  keys: string[];
  calls: ToolCallBlock[];
}

/** Returns the run of reads at the end of a row. */
function tailOf(row: Row): { calls: ToolCallBlock[]; whole: boolean } | null {
  if (row.kind !== "assistant" || row.message.stopReason !== "toolUse") {
    return null;
  }
  const run = readRuns(row.message, row.tools).at(-1);
  return run && run.to === blocksOf(row.message).length ? { calls: run.calls, whole: run.from === 0 } : null;
}

/** Returns the folds of rows, by the keys of their rows. */
export function foldsOf(rows: readonly Row[]): Map<string, RowFold> {
  const folds = new Map<string, RowFold>();
  let fold: RowFold | null = null;
  for (const row of rows) {
    const tail = tailOf(row);
    if (!tail) {
      fold = null;
      continue;
    }
    if (!fold || !tail.whole) {
      fold = { keys: [], calls: [] };
    }
    fold.keys.push(row.key);
    fold.calls.push(...tail.calls);
    folds.set(row.key, fold);
  }
  for (const [key, { calls }] of folds) {
    if (calls.length < 2) {
      folds.delete(key);
    }
  }
  return folds;
}
