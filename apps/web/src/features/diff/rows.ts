// The shown rows of a file's diff: lines, folds between them, and omitted lines.
import type { DiffFile, DiffLine, Hunk } from "./model";

/** A row. `key` identifies it while the file is shown. */
export type DiffRow =
  | { kind: "line"; key: string; line: DiffLine; twin: DiffLine | null }
  | { kind: "pair"; key: string; left: DiffLine | null; right: DiffLine | null; twins: boolean }
  /** Unchanged lines that are folded. */
  | { kind: "fold"; key: string; count: number }
  /** Lines that the diff omits; 0 if their number is unknown. */
  | { kind: "gap"; key: string; count: number; heading: string };

/** Returns the lines that a row shows. */
export function linesOf(row: DiffRow): DiffLine[] {
  switch (row.kind) {
    case "line":
      return [row.line];
    case "pair":
      return [row.left, row.right].filter((line) => line !== null);
    default:
      return [];
  }
}

/** How many unchanged lines are shown around a change. */
const around = 3;

/** Fewer lines are not folded. */
const least = 4;

/** How a file is shown. */
export interface RowOptions {
  /** Side by side: the old version on the left. */
  split: boolean;
  /** The keys of the open folds. */
  open: ReadonlySet<string>;
}

export function rowsOf(file: DiffFile, { split, open }: RowOptions): DiffRow[] {
  const rows: DiffRow[] = [];
  let end = 0;
  file.hunks.forEach((hunk, h) => {
    const first = hunk.lines.find(({ kind }) => kind !== "note");
    const start = first ? first.old || first.new : 0;
    const left = end > 0 && start > end ? start - end : 0;
    if (h > 0 || start > 1 || hunk.heading !== "") {
      rows.push({ kind: "gap", key: `g${h}`, count: h > 0 ? left : Math.max(0, start - 1), heading: hunk.heading });
    }
    rows.push(...hunkRows(hunk, h, { split, open }, h === 0, h === file.hunks.length - 1));
    const last = hunk.lines.findLast(({ kind }) => kind !== "note");
    end = last ? lastOld(hunk) + 1 : 0;
  });
  return rows;
}

/** Returns the number of a hunk's last line in the old version, or in the new one if it has none of the old. */
function lastOld({ lines }: Hunk): number {
  return lines.findLast(({ old }) => old > 0)?.old ?? lines.findLast((line) => line.new > 0)?.new ?? 0;
}

function hunkRows(hunk: Hunk, h: number, { split, open }: RowOptions, isFirst: boolean, isLast: boolean): DiffRow[] {
  const rows: DiffRow[] = [];
  const { lines } = hunk;
  for (let i = 0; i < lines.length; ) {
    const from = i;
    const same = lines[i]?.kind === "same";
    while (i < lines.length && (lines[i]?.kind === "same") === same) {
      i++;
    }
    const run = lines.slice(from, i);
    if (!same) {
      rows.push(...changeRows(run, `${h}.${from}`, split));
      continue;
    }
    const head = isFirst && from === 0 ? 0 : around;
    const tail = isLast && i === lines.length ? 0 : around;
    const key = `f${h}.${from}`;
    const folded = run.length - head - tail;
    if (folded < least || open.has(key)) {
      rows.push(...sameRows(run, h, from, split));
      continue;
    }
    rows.push(...sameRows(run.slice(0, head), h, from, split));
    rows.push({ kind: "fold", key, count: folded });
    rows.push(...sameRows(run.slice(head + folded), h, from + head + folded, split));
  }
  return rows;
}

function sameRows(lines: readonly DiffLine[], h: number, from: number, split: boolean): DiffRow[] {
  return lines.map((line, i) => {
    const key = `${h}.${from + i}`;
    return split
      ? { kind: "pair", key, left: line, right: line, twins: false }
      : { kind: "line", key, line, twin: null };
  });
}

/** Returns the rows of a change between unchanged lines. */
function changeRows(lines: readonly DiffLine[], name: string, split: boolean): DiffRow[] {
  const rows: DiffRow[] = [];
  if (!split) {
    // Computed when a row is rendered: comparing all lines of a long diff takes too long.
    let found: Map<DiffLine, DiffLine> | null = null;
    const twinOf = (line: DiffLine) => {
      found ??= twinsOf(lines);
      return found.get(line) ?? null;
    };
    return lines.map((line, i) => ({
      kind: "line",
      key: `${name}.${i}`,
      line,
      get twin() {
        return twinOf(line);
      },
    }));
  }
  const twins = twinsOf(lines);
  let left: DiffLine[] = [];
  let right: DiffLine[] = [];
  const flush = () => {
    rows.push(...sideBySide(left, right, twins, `${name}.${rows.length}`));
    left = [];
    right = [];
  };
  for (const line of lines) {
    if (line.kind === "removed") {
      if (right.length > 0) {
        flush();
      }
      left.push(line);
    } else if (line.kind === "added") {
      right.push(line);
    } else {
      flush();
      rows.push({ kind: "line", key: `${name}.${rows.length}`, line, twin: null });
    }
  }
  flush();
  return rows;
}

/** Pairs lines that belong together in one row; the others have rows of their own. */
function sideBySide(
  left: readonly DiffLine[],
  right: readonly DiffLine[],
  twins: ReadonlyMap<DiffLine, DiffLine>,
  name: string,
): DiffRow[] {
  const rows: DiffRow[] = [];
  const add = (l: DiffLine | null, r: DiffLine | null, alike: boolean) =>
    rows.push({ kind: "pair", key: `${name}.${rows.length}`, left: l, right: r, twins: alike });
  let r = 0;
  let waiting: DiffLine[] = [];
  const place = (until: number) => {
    const count = Math.max(waiting.length, until - r);
    for (let i = 0; i < count; i++) {
      add(waiting[i] ?? null, r + i < until ? (right[r + i] ?? null) : null, false);
    }
    waiting = [];
    r = until;
  };
  for (const line of left) {
    const twin = twins.get(line);
    const at = twin ? right.indexOf(twin, r) : -1;
    if (!twin || at < 0) {
      waiting.push(line);
      continue;
    }
    place(at);
    add(line, twin, true);
    r = at + 1;
  }
  place(right.length);
  return rows;
}

/** More pairs of lines are not compared with each other. */
const maxPairs = 900;

/** Finds the lines of a change that are versions of each other; each maps to the other. */
export function twinsOf(lines: readonly DiffLine[]): Map<DiffLine, DiffLine> {
  const twins = new Map<DiffLine, DiffLine>();
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (const [a, b] of alikeIn(removed, added)) {
      twins.set(a, b);
      twins.set(b, a);
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "removed") {
      if (added.length > 0) {
        flush();
      }
      removed.push(line);
    } else if (line.kind === "added") {
      added.push(line);
    }
  }
  flush();
  return twins;
}

/** Pairs lines in order, so that as much as possible of their texts is equal. */
function alikeIn(before: readonly DiffLine[], after: readonly DiffLine[]): [DiffLine, DiffLine][] {
  const [n, m] = [before.length, after.length];
  if (n === 0 || m === 0) {
    return [];
  }
  if (n * m > maxPairs) {
    return n === m ? before.map((line, i) => [line, after[i] as DiffLine]) : [];
  }
  // best[i][j]: the best score for the lines from i and j on.
  const best = Array.from({ length: n + 1 }, () => new Array<number>(m + 1).fill(0));
  const value = (i: number, j: number) => best[i]?.[j] ?? 0;
  const likeness = before.map((a) => after.map((b) => alike(a.text, b.text)));
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      const row = best[i] as number[];
      row[j] = Math.max(value(i + 1, j), value(i, j + 1), (likeness[i]?.[j] ?? 0) + value(i + 1, j + 1));
    }
  }
  const pairs: [DiffLine, DiffLine][] = [];
  for (let i = 0, j = 0; i < n && j < m; ) {
    if (value(i, j) === value(i + 1, j)) {
      i++;
    } else if (value(i, j) === value(i, j + 1)) {
      j++;
    } else {
      pairs.push([before[i++] as DiffLine, after[j++] as DiffLine]);
    }
  }
  return pairs;
}

/**
 * Returns how similar two lines are at their ends, from 0 to 1, and 0 if they are too different to be versions of one
 * line.
 */
function alike(a: string, b: string): number {
  const [x, y] = [a.trim().slice(0, 300), b.trim().slice(0, 300)];
  const most = Math.min(x.length, y.length);
  if (most === 0) {
    return 0;
  }
  let head = 0;
  while (head < most && x[head] === y[head]) {
    head++;
  }
  let tail = 0;
  while (tail < most - head && x[x.length - 1 - tail] === y[y.length - 1 - tail]) {
    tail++;
  }
  const share = (head + tail) / Math.max(x.length, y.length);
  return share >= 0.3 ? share : 0;
}
