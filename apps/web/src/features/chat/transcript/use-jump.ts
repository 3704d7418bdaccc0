import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import type { Sought } from "../../../api/contract";
import type { SessionEntry } from "../../../api/types";
import { bringIntoSight } from "../../shared/bring-into-sight";
import type { Row } from "./rows";

/** Returns the key of the row that shows an entry; undefined if no row does. */
export function rowKeyOf(entryId: string, entries: readonly SessionEntry[], rows: readonly Row[]): string | undefined {
  const entry = entries.find((each) => each.id === entryId);
  if (entry?.type !== "message") {
    return rows.find((row) => row.key === entryId)?.key;
  }
  const { message } = entry;
  return rows.find((row) => {
    if (row.kind === "user") {
      return row.entry.id === entryId;
    }
    if (row.kind === "assistant" && message.role === "toolResult") {
      return row.tools.has(message.toolCallId);
    }
    return row.key === entryId;
  })?.key;
}

export interface Target {
  entryId: string;
  /** The position of its row: the middle of the box, or an offset below its top in pixels. */
  where: "middle" | number;
}

export interface JumpOptions {
  /** The entry to show; undefined for none. It keeps its identity as long as its meaning. */
  target: Target | undefined;
  entries: readonly SessionEntry[];
  rows: readonly Row[];
  /** The index of the first shown row, and the index after the last one. */
  first: number;
  last: number;
  /** Shows the rows around an index. */
  reveal(index: number): void;
  /** Loads the entry, from anywhere in the session. */
  seek(entryId: string): Promise<Sought>;
  /** Stops the list from following its end. */
  leaveEnd(): void;
  box: RefObject<HTMLElement | null>;
  /** Called when no row shows the entry and none will. */
  onMissing(why: "elsewhere" | "missing" | "failed"): void;
}

/** Scrolls an entry into view, once for each target. Returns the key of its row. */
export function useJump(options: JumpOptions): string | undefined {
  const { target, entries, rows, first, last, reveal, seek, leaveEnd, box, onMissing } = options;
  const entryId = target?.entryId;
  const [done, setDone] = useState<Target | undefined>(undefined);
  const asked = useRef<string | undefined>(undefined);
  // Avoids a search of a long log with every frame of an answer.
  const key = useMemo(
    () => (entryId === undefined ? undefined : rowKeyOf(entryId, entries, rows)),
    [entryId, entries, rows],
  );
  useEffect(() => {
    if (target === undefined || done === target || rows.length === 0) {
      return;
    }
    const { entryId, where } = target;
    leaveEnd();
    if (key === undefined) {
      const give = (why: "elsewhere" | "missing" | "failed") => {
        setDone(target);
        onMissing(why);
      };
      // A loaded entry without a row is on another branch than the shown one.
      if (entries.some((each) => each.id === entryId)) {
        return give("elsewhere");
      }
      // One request for each state of the loaded entries: an older host returns them in pieces.
      const question = `${entryId} ${entries.length}`;
      if (asked.current === question) {
        return;
      }
      asked.current = question;
      void seek(entryId).then((sought) => {
        if (sought !== "here") {
          give(sought);
        }
      });
      return;
    }
    const index = rows.findIndex((row) => row.key === key);
    if (index < first || index >= last) {
      reveal(index);
      return;
    }
    const shown = [...(box.current?.querySelectorAll("[data-row]") ?? [])].find(
      (element) => element.getAttribute("data-row") === key,
    );
    if (shown && box.current) {
      bringIntoSight(box.current, shown, where);
    }
    setDone(target);
  }, [target, done, entries, rows, key, first, last, reveal, seek, leaveEnd, box, onMissing]);
  return key;
}
