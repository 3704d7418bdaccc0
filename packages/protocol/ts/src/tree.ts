// The tree that the entries of a session form by parentId. Pure. Files are read
// with little validation, so a member of an entry may be of any kind here.

import { compareDates, dateOf } from "./date.ts";
import type { Block, Entry, Message } from "./gen/session.ts";

/**
 * The reason why a path is incomplete: `missing_leaf` and `missing_parent` name the
 * missing entry, `cycle` the one at which the cycle closes.
 */
export interface Hole {
  why: "missing_leaf" | "missing_parent" | "cycle";
  id: string;
}

/** The entries from the root to a leaf, as far as the path is connected. */
export interface Path {
  entries: Entry[];
  hole: Hole | null;
}

/**
 * Returns the entries from the root to `leaf`, by default the last entry; null means
 * before the first entry. If an id occurs twice, the later entry wins. A missing
 * parent ends the path, and a cycle is cut: people see as much as possible of a
 * damaged file, and `hole` describes the damage.
 */
export function walk(entries: readonly Entry[], leaf?: string | null): Path {
  const byId = new Map<unknown, Entry>(entries.map((e) => [e.id, e]));
  const first = leaf === undefined ? entries.at(-1) : byId.get(leaf);
  if (leaf === null || first?.id === null || (leaf === undefined && !first)) {
    return { entries: [], hole: null };
  }
  if (!first) {
    return { entries: [], hole: { why: "missing_leaf", id: String(leaf) } };
  }
  const seen = new Set<Entry>();
  let hole: Hole | null = null;
  for (let entry = first; ; ) {
    if (seen.has(entry)) {
      hole = { why: "cycle", id: String(entry.id) };
      break;
    }
    seen.add(entry);
    if (!entry.parentId) {
      break;
    }
    const parent = byId.get(entry.parentId);
    if (!parent) {
      hole = { why: "missing_parent", id: String(entry.parentId) };
      break;
    }
    entry = parent;
  }
  return { entries: [...seen].reverse(), hole };
}

/** The entries of `walk`. */
export function pathTo(entries: readonly Entry[], leaf?: string): Entry[] {
  return walk(entries, leaf).entries;
}

/** The forest of the entries: ids of the roots, and of the children of each entry that has some. */
export interface Forest {
  roots: string[];
  children: Map<string, string[]>;
}

/**
 * Roots are the entries without a parent, with themselves as the parent, and orphans,
 * in file order. Children are ordered by timestamp, in file order if those are equal;
 * children without a valid date come last. An entry whose parents form a cycle is
 * below no root: it is among the children of its parent.
 */
export function forestOf(entries: readonly Entry[]): Forest {
  const byId = new Map(entries.map((e) => [e.id, e]));
  const roots: string[] = [];
  const siblings = new Map<string, Entry[]>();
  for (const { id, parentId } of entries) {
    const entry = byId.get(id);
    if (parentId === null || parentId === id || !byId.has(parentId) || !entry) {
      roots.push(id);
      continue;
    }
    const list = siblings.get(parentId);
    if (list) {
      list.push(entry);
    } else {
      siblings.set(parentId, [entry]);
    }
  }
  const children = new Map<string, string[]>();
  for (const [id, list] of siblings) {
    // Sort entries, not ids: sort puts an undefined id last without comparing it.
    list.sort((a, b) => compareDates(dateOf(a.timestamp), dateOf(b.timestamp)));
    children.set(
      id,
      list.map((e) => e.id),
    );
  }
  return { roots, children };
}

/** The current labels of all branches, by the id of their target. */
export function labelsOf(entries: readonly Entry[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const e of entries) {
    if (e.type !== "label") {
      continue;
    }
    const target = typeof e.targetId === "string" ? e.targetId : String(JSON.stringify(e.targetId));
    if (typeof e.label === "string" && e.label !== "") {
      labels.set(target, e.label);
    } else {
      labels.delete(target);
    }
  }
  return labels;
}

/** The messages on the path to `leaf`, in order, ignoring compactions and edits. */
export function messagesTo(entries: readonly Entry[], leaf?: string): Message[] {
  return pathTo(entries, leaf).flatMap((e) => (e.type === "message" ? [e.message] : []));
}

/** The last name given to the session, or ''. */
export function sessionName(entries: readonly Entry[]): string {
  const name: unknown = entries.findLast((e) => e.type === "session_info")?.name;
  return typeof name === "string" ? name.trim() : "";
}

/** Content as blocks, even if a file holds a plain string. */
export function blocksOf(message: Message): Block[] {
  const { content } = message;
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** The text blocks, joined without a separator. */
export function plainText(message: Message): string {
  return blocksOf(message)
    .map((b) => (b.type === "text" ? b.text : ""))
    .join("");
}
