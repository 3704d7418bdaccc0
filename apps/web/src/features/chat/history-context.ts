import { createContext, useContext } from "react";
import type { SessionEntry } from "../../api/types";

/** An entry of the session that something can be done with. */
export interface Place {
  entryId: string;
  /** A message of the user: the place is before it. */
  before: boolean;
  /** How it begins. */
  text: string;
}

export interface History {
  labels: ReadonlyMap<string, string>;
  /** Opens the menu of a place; null where nothing can be done. */
  open: ((place: Place) => void) | null;
}

export const HistoryContext = createContext<History>({ labels: new Map(), open: null });

export function useHistory(): History {
  return useContext(HistoryContext);
}

/** The labels that stand, by the entry that they name. */
export function labelsOf(entries: readonly SessionEntry[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type !== "label" || typeof entry.targetId !== "string") continue;
    if (typeof entry.label === "string" && entry.label !== "") labels.set(entry.targetId, entry.label);
    else labels.delete(entry.targetId);
  }
  return labels;
}
