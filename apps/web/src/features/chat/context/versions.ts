import { CUSTOM_LEAF, type SessionEntry } from "../../../api/types";

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

/**
 * Returns the messages of people that have other versions, by id. A message that was edited and resent follows the same
 * message as its original. Only loaded entries count.
 */
export function versionsOf(entries: readonly SessionEntry[]): Map<string, Version> {
  const versions = new Map<string, Version>();
  // Most sessions have one branch, so there is nothing to search for.
  if (!entries.some((entry) => entry.type === "branch_summary" || isMove(entry))) {
    return versions;
  }
  const ends = endsOf(entries);
  for (const ids of alternatives(entries)) {
    for (const [i, id] of ids.entries()) {
      const end = (other: string | undefined) => (other === undefined ? undefined : ends.get(other));
      versions.set(id, {
        first: ids[0] ?? id,
        at: i + 1,
        count: ids.length,
        previous: end(ids[i - 1]),
        next: end(ids[i + 1]),
      });
    }
  }
  return versions;
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
    if (entry.type !== "message" || entry.message.role !== "user" || entry.steer) {
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
