// The tree that the entries of a session form by parentId. Pure. Files are read
// without much of a check, so that a member of an entry may be of any kind here.

import { dateOf } from './date.ts';
import type { Block, Entry, Message } from './gen/session.ts';

/**
 * Why a path is not whole: `missing_leaf` and `missing_parent` name the entry that is
 * not there, `cycle` the one that the path comes back to.
 */
export interface Hole {
  why: 'missing_leaf' | 'missing_parent' | 'cycle';
  id: string;
}

/** The entries from the root to a leaf, as far as they hang together below it. */
export interface Path {
  entries: Entry[];
  hole: Hole | null;
}

/**
 * The entries from the root to `leaf`, or to the last entry when none is named; null is
 * the place before the first entry. Where an id occurs twice, the later entry wins. A
 * missing parent ends the path there, and a cycle is cut: a person sees what can be
 * seen of a damaged file, and `hole` says what is not whole.
 */
export function walk(entries: readonly Entry[], leaf?: string | null): Path {
  const byId = new Map<unknown, Entry>(entries.map((e) => [e.id, e]));
  const first = leaf === undefined ? entries.at(-1) : byId.get(leaf);
  if (leaf === null || first?.id === null || (leaf === undefined && !first)) {
    return { entries: [], hole: null };
  }
  if (!first) {
    return { entries: [], hole: { why: 'missing_leaf', id: String(leaf) } };
  }
  const seen = new Set<Entry>();
  let hole: Hole | null = null;
  for (let entry = first; ; ) {
    if (seen.has(entry)) {
      hole = { why: 'cycle', id: String(entry.id) };
      break;
    }
    seen.add(entry);
    if (!entry.parentId) {
      break;
    }
    const parent = byId.get(entry.parentId);
    if (!parent) {
      hole = { why: 'missing_parent', id: String(entry.parentId) };
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

/** The forest that entries form: ids of the roots, and of the children of each entry that has some. */
export interface Forest {
  roots: string[];
  children: Map<string, string[]>;
}

/**
 * Roots are the entries without a parent, with themselves as the parent, and
 * orphans, in file order. Children are in the order of their timestamps, in file
 * order where those are equal. An entry whose parents form a cycle is below no
 * root: it is among the children of its parent.
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
    // Entries, not ids: sort puts an id that is undefined last without a comparison.
    list.sort((a, b) => dateOf(a.timestamp) - dateOf(b.timestamp));
    children.set(
      id,
      list.map((e) => e.id),
    );
  }
  return { roots, children };
}

/** The labels that stand, by the id of their target, whatever branch they were given on. */
export function labelsOf(entries: readonly Entry[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const e of entries) {
    if (e.type !== 'label') {
      continue;
    }
    const target = typeof e.targetId === 'string' ? e.targetId : String(JSON.stringify(e.targetId));
    if (typeof e.label === 'string' && e.label !== '') {
      labels.set(target, e.label);
    } else {
      labels.delete(target);
    }
  }
  return labels;
}

/** The messages on the path to `leaf`, in order, compactions and edits left aside. */
export function messagesTo(entries: readonly Entry[], leaf?: string): Message[] {
  return pathTo(entries, leaf).flatMap((e) => (e.type === 'message' ? [e.message] : []));
}

/** The last name given to the session, or ''. */
export function sessionName(entries: readonly Entry[]): string {
  const name: unknown = entries.findLast((e) => e.type === 'session_info')?.name;
  return typeof name === 'string' ? name.trim() : '';
}

/** Content as blocks, also where a file holds a plain string. */
export function blocksOf(message: Message): Block[] {
  const { content } = message;
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The text blocks joined, with nothing between them. */
export function plainText(message: Message): string {
  return blocksOf(message)
    .map((b) => (b.type === 'text' ? b.text : ''))
    .join('');
}
