// Selects the palette's entries for a text.
import type { ReactNode } from "react";
import { rate } from "./match";

export type Kind = "sessions" | "page" | "machines" | "actions" | "text";

export interface Entry {
  /** Unique over all kinds. */
  id: string;
  kind: Kind;
  title: string;
  icon: ReactNode;
  /** Its machine or project, shown beside the title. */
  place?: string;
  /** Text below the title. */
  excerpt?: ReactNode;
  /** When it was changed, in Unix milliseconds. */
  at?: number;
  /** Further words that find it. */
  others?: string;
  keys?: readonly string[];
  /** Whether it is listed before anything is typed. */
  first?: boolean;
  run: () => void;
}

export interface Group {
  kind: Kind;
  entries: Entry[];
}

/** How many entries of a kind are listed. */
const most: Record<Kind, number> = { sessions: 8, page: 10, machines: 6, actions: 8, text: 12 };

/** Returns the entries listed before anything is typed, in the given order. */
export function suggested(entries: readonly Entry[]): Group[] {
  return groupsOf(entries.filter(({ first }) => first));
}

/** Returns the matches of a text: the best first in each group, and the group with the best match first. */
export function fitting(entries: readonly Entry[], text: string): Group[] {
  const rated = entries
    .map((entry) => ({ entry, score: rate(text, entry.title, `${entry.place ?? ""} ${entry.others ?? ""}`) }))
    .filter(({ score }) => score > 0)
    // Equal matches keep their order: sessions come newest first.
    .sort((a, b) => b.score - a.score);
  return groupsOf(rated.map(({ entry }) => entry));
}

function groupsOf(entries: readonly Entry[]): Group[] {
  const groups = new Map<Kind, Entry[]>();
  for (const entry of entries) {
    groups.set(entry.kind, [...(groups.get(entry.kind) ?? []), entry]);
  }
  return [...groups].map(([kind, list]) => ({ kind, entries: list.slice(0, most[kind]) }));
}
