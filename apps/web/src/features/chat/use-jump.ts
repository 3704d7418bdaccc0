import { type RefObject, useEffect, useState } from "react";
import type { SessionEntry } from "../../api/types";
import type { Row } from "./rows";

/** The key of the row that shows an entry; undefined where no row does. */
export function rowKeyOf(entryId: string, entries: readonly SessionEntry[], rows: readonly Row[]): string | undefined {
  const entry = entries.find((each) => each.id === entryId);
  if (entry?.type !== "message") return rows.find((row) => row.key === entryId)?.key;
  const { message } = entry;
  return rows.find((row) => {
    if (row.kind === "user") return row.entry.id === entryId;
    if (row.kind === "assistant" && message.role === "toolResult") return row.tools.has(message.toolCallId);
    return row.key === entryId;
  })?.key;
}

export interface JumpOptions {
  /** The entry to show; undefined shows none. */
  entryId: string | undefined;
  entries: readonly SessionEntry[];
  rows: readonly Row[];
  /** The index of the first row that is shown. */
  first: number;
  /** Shows rows from before an index on. */
  reveal(index: number): void;
  earlier: "none" | "some" | "loading";
  loadEarlier(): void;
  /** Stops the list from following its end. */
  leaveEnd(): void;
  box: RefObject<HTMLElement | null>;
  /** The session is here as a whole, and no row shows the entry. */
  onMissing(): void;
}

/** Brings an entry into sight, once, reading back in the log as far as it takes. It returns the key of its row. */
export function useJump(options: JumpOptions): string | undefined {
  const { entryId, entries, rows, first, reveal, earlier, loadEarlier, leaveEnd, box, onMissing } = options;
  const [done, setDone] = useState<string | undefined>(undefined);
  const key = entryId === undefined ? undefined : rowKeyOf(entryId, entries, rows);
  useEffect(() => {
    if (entryId === undefined || done === entryId || rows.length === 0) return;
    if (key === undefined) {
      if (earlier === "loading") return;
      leaveEnd();
      if (earlier === "some") {
        loadEarlier();
        return;
      }
      setDone(entryId);
      onMissing();
      return;
    }
    leaveEnd();
    const index = rows.findIndex((row) => row.key === key);
    if (index < first) {
      reveal(index);
      return;
    }
    const shown = [...(box.current?.querySelectorAll("[data-row]") ?? [])].find(
      (element) => element.getAttribute("data-row") === key,
    );
    shown?.scrollIntoView({ block: "center" });
    setDone(entryId);
  }, [entryId, done, rows, key, first, reveal, earlier, loadEarlier, leaveEnd, box, onMissing]);
  return key;
}
