import { CUSTOM_LEAF, type SessionEntry } from "../../../api/types";

/** Where a message stands among those that were written in its place. */
export interface Version {
  /** The first of them, which names them all. */
  first: string;
  /** From 1. */
  at: number;
  count: number;
  /** The ends of the branches of the versions beside it. */
  previous?: string | undefined;
  next?: string | undefined;
}

/**
 * The messages of people that have other versions, by id. A message that was edited and sent again follows the same
 * message as the one before. Only what is loaded counts.
 */
export function versionsOf(entries: readonly SessionEntry[]): Map<string, Version> {
  const versions = new Map<string, Version>();
  // Most sessions have one branch: there is nothing to look for.
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

/** The runs of two or more messages that stand in the same place, each in file order. */
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

/** The last entry of what follows each entry, the entry itself where nothing does. */
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
