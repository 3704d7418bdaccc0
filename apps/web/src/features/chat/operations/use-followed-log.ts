import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Process, ProcessLine } from "../../../api/types";
import { withHelp } from "../../shared/with-help";
import { useLogReader, useTimeline } from "../context/live-context";

/** How many lines of a growing log are kept in the page. */
const keptLines = 500;

export interface FollowedLog {
  lines: readonly ProcessLine[];
  /** Lines of the log that are not in the page. */
  left: number;
  /** null while nothing failed. */
  error: ReactNode;
}

/** Reads the log of an operation from its beginning and follows it while it grows. */
export function useFollowedLog(process: Process): FollowedLog {
  const read = useLogReader();
  const heard = useTimeline(process.last.operationId);
  const [log, setLog] = useState<FollowedLog>({ lines: [], left: 0, error: null });
  const at = useRef({ next: 0, busy: false, again: false, stopped: false });
  const { processLogRef } = process;
  const { sequence } = process.last;
  useEffect(() => {
    const here = at.current;
    here.stopped = false;
    return () => {
      here.stopped = true;
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new event means that there may be more to read
  useEffect(() => {
    const here = at.current;
    if (here.busy) {
      here.again = true;
      return;
    }
    const pull = async () => {
      here.busy = true;
      try {
        do {
          here.again = false;
          const page = await read(processLogRef, here.next);
          if (here.stopped) {
            break;
          }
          here.next = page.next;
          here.again ||= page.more ?? false;
          setLog((before) => grown(before, page.lines ?? []));
        } while (here.again);
      } catch (cause) {
        if (!here.stopped) {
          setLog((before) => ({ ...before, error: withHelp(cause) }));
        }
      }
      here.busy = false;
    };
    void pull();
  }, [read, processLogRef, sequence]);
  const newest = log.lines.at(-1)?.sequence ?? 0;
  return { ...log, lines: [...log.lines, ...heard.filter((line) => line.sequence > newest)] };
}

function grown({ lines, left }: FollowedLog, more: readonly ProcessLine[]): FollowedLog {
  const all = [...lines, ...more];
  const over = Math.max(0, all.length - keptLines);
  return { lines: all.slice(over), left: left + over, error: null };
}
