// The progress lines of running operations that this page has received: the host sends only the newest line.
import type { Process, ProcessLine } from "./types";

/** The newest lines of each running operation by its id, oldest first. */
export type Timelines = ReadonlyMap<string, readonly ProcessLine[]>;

/** How many lines are kept for each operation. */
export const TIMELINE_LINES = 50;

/** Adds the lines that operations report now. Returns the same map if none is new. */
export function reported(timelines: Timelines, processes: readonly Process[]): Timelines {
  let next: Map<string, readonly ProcessLine[]> | null = null;
  for (const { last } of processes) {
    const known = (next ?? timelines).get(last.operationId) ?? [];
    const lines = withLine(known, last);
    if (lines === known) {
      continue;
    }
    next ??= new Map(timelines);
    next.set(last.operationId, lines);
  }
  return next ?? timelines;
}

/** Drops the operations that have ended. */
export function running(timelines: Timelines, processes: readonly Process[]): Timelines {
  const ids = new Set(processes.map(({ last }) => last.operationId));
  if ([...timelines.keys()].every((id) => ids.has(id))) {
    return timelines;
  }
  return new Map([...timelines].filter(([id]) => ids.has(id)));
}

/** Adds a line. A line that counts repeats replaces the one that it repeats. */
function withLine(lines: readonly ProcessLine[], line: ProcessLine): readonly ProcessLine[] {
  const newest = lines.at(-1);
  if (newest && newest.sequence >= line.sequence) {
    return lines;
  }
  const repeated = line.repeats ? lines.findLastIndex((each) => sameKind(each, line)) : -1;
  const others = repeated < 0 ? lines : lines.filter((_, i) => i !== repeated);
  return [...others, line].slice(-TIMELINE_LINES);
}

function sameKind(a: ProcessLine, b: ProcessLine): boolean {
  return (
    a.stage === b.stage &&
    a.message === b.message &&
    a.taskId === b.taskId &&
    a.level === b.level &&
    a.status === b.status
  );
}
