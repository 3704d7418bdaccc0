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
