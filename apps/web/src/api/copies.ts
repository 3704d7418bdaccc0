// What a browser keeps of a session, to show it before its host has answered.
import type { SessionEntry, SessionSummary } from "./types";

/** The end of a session's log as it was once. It holds nothing that passes: no turn, no approval, no partial answer. */
export interface SessionCopy {
  summary: SessionSummary;
  entries: SessionEntry[];
  /** The cursor to what lies before `entries`; 0 where nothing does. */
  before: number;
  /** The seq up to which the log is known. */
  last: number;
}

/** A copy, with the time at which it was true, in Unix milliseconds. */
export interface Saved<T> {
  savedAt: number;
  value: T;
}

/**
 * The epoch of a projection that was made of a copy. No host uses it, so that a resync never brings the events that
 * followed: it brings the entries that followed and the live state, or everything.
 */
export const SAVED_EPOCH = "saved";

/** The requests whose answers are kept. */
export const KEPT: readonly string[] = ["get_host", "list_projects", "list_sessions", "list_clients"];
