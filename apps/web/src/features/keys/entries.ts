// What the palette lists for a text, from everything that it could list.
import type { ReactNode } from "react";
import { rate } from "./match";

export type Kind = "sessions" | "page" | "machines" | "actions" | "text";

export interface Entry {
  /** Over all kinds. */
  id: string;
  kind: Kind;
  title: string;
  icon: ReactNode;
  /** Where it is, beside the title. */
  place?: string;
  /** Text under the title. */
  excerpt?: ReactNode;
  /** When it was changed, in Unix milliseconds. */
  at?: number;
  /** What else finds it. */
  others?: string;
  keys?: readonly string[];
  /** Listed before anything is typed. */
  first?: boolean;
  run: () => void;
}

export interface Group {
  kind: Kind;
  entries: Entry[];
}

/** How many of a kind are listed. */
const most: Record<Kind, number> = { sessions: 8, page: 10, machines: 6, actions: 8, text: 12 };

/** What is listed before anything is typed, in the order in which it is given. */
export function suggested(entries: readonly Entry[]): Group[] {
  return groupsOf(entries.filter(({ first }) => first));
}

/** What fits a text: in each group the best first, and the group with the best first. */
export function fitting(entries: readonly Entry[], text: string): Group[] {
  const rated = entries
    .map((entry) => ({ entry, score: rate(text, entry.title, `${entry.place ?? ""} ${entry.others ?? ""}`) }))
    .filter(({ score }) => score > 0)
    // The order is kept among equals: sessions come newest first.
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
