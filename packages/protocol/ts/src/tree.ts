// The tree that the entries of a session form by parentId. Pure.

import type { Block, Entry, Message } from './gen/session.ts';

/**
 * The entries from the root to `leaf`, or to the last entry when none is named.
 * Where an id occurs twice, the later entry wins. A missing parent ends the path
 * there, and a cycle is cut: a person sees what can be seen of a damaged file.
 */
export function pathTo(entries: readonly Entry[], leaf?: string): Entry[] {
  const byId = new Map(entries.map((e) => [e.id, e]));
  const seen = new Set<string>();
  const path: Entry[] = [];
  for (let id: string | null = leaf ?? entries.at(-1)?.id ?? null; id && !seen.has(id); ) {
    const entry = byId.get(id);
    if (!entry) {
      break;
    }
    seen.add(id);
    path.push(entry);
    id = entry.parentId;
  }
  return path.reverse();
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
  const children = new Map<string, string[]>();
  for (const { id, parentId } of entries) {
    if (parentId === null || parentId === id || !byId.has(parentId)) {
      roots.push(id);
      continue;
    }
    const siblings = children.get(parentId);
    if (siblings) {
      siblings.push(id);
    } else {
      children.set(parentId, [id]);
    }
  }
  const time = (id: string): number => Date.parse(byId.get(id)?.timestamp ?? '');
  for (const siblings of children.values()) {
    siblings.sort((a, b) => time(a) - time(b));
  }
  return { roots, children };
}

/** The labels that stand, by the id of their target, whatever branch they were given on. */
export function labelsOf(entries: readonly Entry[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const e of entries) {
    if (e.type !== 'label' || typeof e.targetId !== 'string') {
      continue;
    }
    if (typeof e.label === 'string' && e.label !== '') {
      labels.set(e.targetId, e.label);
    } else {
      labels.delete(e.targetId);
    }
  }
  return labels;
}

/** The messages on the path to `leaf`, in order. */
export function messagesTo(entries: readonly Entry[], leaf?: string): Message[] {
  return pathTo(entries, leaf).flatMap((e) => (e.type === 'message' ? [e.message] : []));
}

/** The last name given to the session, or ''. */
export function sessionName(entries: readonly Entry[]): string {
  return entries.findLast((e) => e.type === 'session_info')?.name.trim() ?? '';
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
