import { CUSTOM_LEAF, type SessionEntry, type VersionPlace } from "../../../api/types";

/** The position of a message among its versions. */
export interface Version {
  /** The first version, which identifies them all. */
  first: string;
  /** The position of this version, from 1. */
  at: number;
  count: number;
  /** The branch ends of the versions before and after it. */
  previous?: string | undefined;
  next?: string | undefined;
}

/** Returns the messages of the given places, by id. */
export function versionsAt(places: readonly VersionPlace[]): Map<string, Version> {
  const found = new Map<string, Version>();
  for (const { versions } of places) {
    for (const [i, { entryId }] of versions.entries()) {
      found.set(entryId, {
        first: versions[0]?.entryId ?? entryId,
        at: i + 1,
        count: versions.length,
        previous: versions[i - 1]?.end,
        next: versions[i + 1]?.end,
      });
    }
  }
  return found;
}

/**
 * Returns the places with several versions of a message of a person, among these entries. A message that was edited and
 * resent follows the same message as its original. A host answers list_versions by the same rules, from the whole log.
 */
export function placesAmong(entries: readonly SessionEntry[]): VersionPlace[] {
  // Most sessions have one branch, so there is nothing to search for.
  if (lastFork(entries) < 0) {
    return [];
  }
  const ends = endsOf(entries);
  return alternatives(entries).map((ids) => ({
    versions: ids.map((id) => ({ entryId: id, end: ends.get(id) ?? id })),
  }));
}

/**
 * Identifies the last branch of a log and its first message: while both stay the same, so do the versions of messages
 * and the ends that lead to them.
 */
export function branchMark(entries: readonly SessionEntry[]): string {
  const fork = lastFork(entries);
  if (fork < 0) {
    return "";
  }
  const first = entries.slice(fork).find(isPrompt);
  return `${entries[fork]?.id} ${first?.id ?? ""}`;
}

/** Returns the index of the last entry that does not continue the one before it; -1 if there is none. */
function lastFork(entries: readonly SessionEntry[]): number {
  return entries.findLastIndex((entry, i) => i > 0 && (entry.parentId ?? "") !== entries[i - 1]?.id);
}

/** Reports whether an entry is a message of a person that began a turn. */
function isPrompt(entry: SessionEntry): boolean {
  return entry.type === "message" && entry.message.role === "user" && !entry.steer;
}

/** Returns the groups of two or more messages in the same place, each in file order. */
function alternatives(entries: readonly SessionEntry[]): string[][] {
  const anchors = new Map<string, string>();
  const places = new Map<string, string[]>();
  for (const entry of entries) {
    const parent = entry.parentId ?? "";
    const above = anchors.get(parent) ?? parent;
    const stands = entry.type === "message" || entry.type === "compaction";
    anchors.set(entry.id, stands ? entry.id : above);
    if (!isPrompt(entry)) {
      continue;
    }
    const here = places.get(above);
    if (here) {
      here.push(entry.id);
    } else {
      places.set(above, [entry.id]);
    }
  }
  return [...places.values()].filter((ids) => ids.length > 1);
}

/** Returns the last descendant of each entry, or the entry itself if it has none. */
function endsOf(entries: readonly SessionEntry[]): Map<string, string> {
  const ends = new Map<string, string>();
  for (const entry of entries.toReversed()) {
    const end = ends.get(entry.id) ?? (isMove(entry) ? undefined : entry.id);
    if (end === undefined) {
      continue;
    }
    ends.set(entry.id, end);
    if (entry.parentId && !ends.has(entry.parentId)) {
      ends.set(entry.parentId, end);
    }
  }
  return ends;
}

function isMove(entry: SessionEntry): boolean {
  return entry.type === "custom" && entry.customType === CUSTOM_LEAF;
}
