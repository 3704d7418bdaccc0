import { createContext, useContext } from "react";
import type { SessionEntry } from "../../../api/types";
import type { Attached } from "../images/use-attachments";
import type { Version } from "./versions";

/** A prompt to be written again. */
export interface Insert {
  text: string;
  images?: Attached[];
  /** Goes behind what is written already, which stays. */
  append?: boolean;
}

/** An entry of the session that something can be done with. */
export interface Place {
  entryId: string;
  /** A message of the user: the place is before it. */
  before: boolean;
  /** How it begins. */
  text: string;
}

/** A step to another version of a message, taken with a button. */
export interface Step {
  /** Names the versions. */
  first: string;
  /** The message that was left. */
  from: string;
  forward: boolean;
}

export interface History {
  labels: ReadonlyMap<string, string>;
  /** Opens the menu of a place; null where nothing can be done. */
  open: ((place: Place) => void) | null;
  /** The messages that were written more than once. */
  versions: ReadonlyMap<string, Version>;
  /** Goes to the end of another branch; null where that cannot be done. */
  go: ((end: string) => void) | null;
  /** The step under way: the buttons of the message that it leads to get the focus. */
  step: { current: Step | null };
  /** Sends a prompt of the session once more in its place; null where that cannot be done. */
  resend: ((entryId: string) => void) | null;
}

export const HistoryContext = createContext<History>({
  ...{ labels: new Map(), versions: new Map() },
  ...{ open: null, go: null, step: { current: null }, resend: null },
});

/** Puts a prompt into the composer; null where there is none. */
export const InsertContext = createContext<((prompt: Insert) => void) | null>(null);

export function useHistory(): History {
  return useContext(HistoryContext);
}

/** The labels that stand, by the entry that they name. */
export function labelsOf(entries: readonly SessionEntry[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type !== "label" || typeof entry.targetId !== "string") {
      continue;
    }
    if (typeof entry.label === "string" && entry.label !== "") {
      labels.set(entry.targetId, entry.label);
    } else {
      labels.delete(entry.targetId);
    }
  }
  return labels;
}
