import { createContext, useContext } from "react";
import type { SessionEntry } from "../../../api/types";
import type { Attached } from "../images/use-attachments";
import type { Version } from "./versions";

/** A prompt that is added to the draft in the composer, which stays. */
export interface Insert {
  text: string;
  images?: Attached[];
  /** Whether it follows the draft instead of preceding it. */
  append?: boolean;
}

/** An entry of the session that has a menu. */
export interface Place {
  entryId: string;
  /** Whether the place is before the entry, as for a message of the user. */
  before: boolean;
  /** The beginning of its text. */
  text: string;
}

/** A step to another version of a message, taken by a button. */
export interface Step {
  /** Identifies the versions. */
  first: string;
  /** The message that was shown before. */
  from: string;
  forward: boolean;
}

export interface History {
  labels: ReadonlyMap<string, string>;
  /** Opens the menu of a place; null if there is none. */
  open: ((place: Place) => void) | null;
  /** The messages that have several versions. */
  versions: ReadonlyMap<string, Version>;
  /** Moves to the end of another branch; null if that is not possible. */
  go: ((end: string) => void) | null;
  /** The pending step: the buttons of the message that it leads to receive the focus. */
  step: { current: Step | null };
  /** Sends a prompt of the session again in its place; null if that is not possible. */
  resend: ((entryId: string) => void) | null;
}

export const HistoryContext = createContext<History>({
  ...{ labels: new Map(), versions: new Map() },
  ...{ open: null, go: null, step: { current: null }, resend: null },
});

/** Inserts a prompt into the composer; null if there is none. */
export const InsertContext = createContext<((prompt: Insert) => void) | null>(null);

export function useHistory(): History {
  return useContext(HistoryContext);
}

/** Returns the current labels, by entry id. */
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
