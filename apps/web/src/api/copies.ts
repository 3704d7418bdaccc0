// The stored copy of a session, shown before its host has answered.
import type { SessionEntry, SessionSummary } from "./types";

/** The end of a session's log at an earlier time. It holds no transient state: no turn, approval or partial answer. */
export interface SessionCopy {
  summary: SessionSummary;
  entries: SessionEntry[];
  /** The cursor for the entries before `entries`; 0 when there are none. */
  before: number;
  /** The seq up to which the log is known. */
  last: number;
}

/** A copy and the time at which it was current, in Unix milliseconds. */
export interface Saved<T> {
  savedAt: number;
  value: T;
}

/**
 * The epoch of a projection that was made from a copy. No host uses it, so a resync never answers with the events that
 * followed: it answers with the entries that followed and the live state, or with everything.
 */
export const SAVED_EPOCH = "saved";

/** The requests whose answers are stored. */
export const KEPT: readonly string[] = ["get_host", "list_projects", "list_sessions", "list_clients"];
