// A copy of the end of a session's log, kept in sync with the host. It accepts only data that continues it; anything
// else ends it, and the next full load begins a new one.
import { utf8 } from "@scorel/protocol";
import type { SessionCopy } from "../../api/copies";
import type { WireEvent } from "../../api/messages";
import type { Requests, ResyncEventsResponse, SessionEntry } from "../../api/types";

/** How many entries of a session are kept. */
export const ENTRIES = 200;

/** The fields of a page's resync_events request. */
export interface Asked {
  epoch?: string;
  persistentLastSeq?: number;
}

/** A session that a page has open. */
export interface Followed {
  copy: SessionCopy | null;
  /** The copy is in sync: events apply to it directly. */
  live: boolean;
  /** The first pending resync; those of other pages bring the same. */
  asking: object | null;
  /** The events received while it was pending. */
  pending: WireEvent[];
}

/** Returns the copy after the answer to resync_events; null if the answer does not continue it. */
export function afterResync(
  copy: SessionCopy | null,
  asked: Asked,
  { mode, session: summary, entries = [], before = 0, events = [], anchors }: ResyncEventsResponse,
): SessionCopy | null {
  const last = anchors.persistentLastSeq;
  if (mode === "full_reload") {
    return trimmed({ summary, entries, before, last });
  }
  if (!copy || copy.last !== (asked.persistentLastSeq ?? 0)) {
    return null;
  }
  const added = mode === "stream_resume" ? (events as unknown as WireEvent[]).flatMap(entryOf) : entries;
  return trimmed({ summary, entries: [...copy.entries, ...added], before: copy.before, last });
}

/**
 * Returns the copy after an answer that does not continue the one in memory, and the number of the last event in it:
 * the stored copy if the answer continues that, otherwise a new one of the session's end, which is requested.
 */
export async function renewedCopy(
  stored: SessionCopy | null,
  asked: Asked & { sessionId: string },
  answer: ResyncEventsResponse,
  ask: (fields: Requests["get_entries"]["request"]) => Promise<unknown>,
): Promise<{ copy: SessionCopy; seq: number }> {
  const continued = afterResync(stored, asked, answer);
  if (continued) {
    return { copy: continued, seq: answer.anchors.streamLastSeq };
  }
  const end = await ask({ sessionId: asked.sessionId, limit: ENTRIES });
  const { entries, before = 0 } = end as Requests["get_entries"]["response"];
  const last = entries.reduce((most, { seq = 0 }) => Math.max(most, seq), 0);
  return { copy: trimmed({ summary: answer.session, entries, before, last }), seq: last };
}

/** Returns the copy after an event of its session. */
export function afterEvent(copy: SessionCopy, event: WireEvent): SessionCopy {
  const added = entryOf(event);
  if (added.length === 0 || (event.seq ?? 0) <= copy.last) {
    return copy;
  }
  return trimmed({ ...copy, entries: [...copy.entries, ...added], last: event.seq ?? 0 });
}

function entryOf(event: WireEvent): SessionEntry[] {
  return event.type === "entry_appended" ? [event.entry as SessionEntry] : [];
}

/**
 * Returns the end of a copy. It begins at an entry with a seq, which is the cursor for the entries before it. Without
 * one, as in files of other programs, it begins earlier.
 */
export function trimmed(copy: SessionCopy, most = ENTRIES): SessionCopy {
  let first = Math.max(0, copy.entries.length - most);
  while (first > 0 && !copy.entries[first]?.seq) {
    first--;
  }
  return first === 0 ? copy : { ...copy, entries: copy.entries.slice(first), before: copy.entries[first]?.seq ?? 0 };
}

/** Returns a copy that fits `bytes` as JSON; null if not even its last entry does. */
export function fitting(copy: SessionCopy, bytes: number): SessionCopy | null {
  let room = bytes - sizeOf({ ...copy, entries: [] });
  let most = 0;
  for (const entry of copy.entries.toReversed()) {
    room -= sizeOf(entry) + 1;
    if (room < 0) {
      break;
    }
    most++;
  }
  const kept = trimmed(copy, most);
  return kept.entries.length <= most ? kept : null;
}

/** Validates a copy read from the disk; returns null if it is not one of this session. */
export function checkedCopy(value: unknown, sessionId: string, projectId: string): SessionCopy | null {
  const copy = value as SessionCopy;
  const good =
    isObject(copy) &&
    isObject(copy.summary) &&
    copy.summary.id === sessionId &&
    copy.summary.projectId === projectId &&
    Array.isArray(copy.entries) &&
    copy.entries.every((entry) => isObject(entry) && typeof entry.type === "string") &&
    [copy.before, copy.last].every((n) => Number.isSafeInteger(n) && n >= 0);
  return good ? copy : null;
}

function sizeOf(value: unknown): number {
  return utf8(JSON.stringify(value)).length;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
