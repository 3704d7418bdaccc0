// Session files, of scorel and of Pi, of versions 1 to 3: the rules of ReadFile in the
// Go package session. Pure. Numbers go through a double here, so that one above 2^53
// is not what stands in the file.

import type { Entry, Header } from './gen/session.ts';
import { VERSION } from './gen/session.ts';
import { sha256 } from './sha256.ts';

/** One line of a file that is not an entry. It stays in the file; what is read goes on without it. */
export interface Damage {
  /** From 1. */
  line: number;
  what: string;
}

export interface SessionFile {
  /** null in a file that is empty: a session that has not begun. */
  header: Header | null;
  /** As of version 3, whatever the file's version. */
  entries: Entry[];
  /** The file is of version 1 or 2, and the entries are not what is on disk. */
  migrated: boolean;
  damage: Damage[];
  /** What follows the last LF is not JSON: a write that was cut. */
  torn: boolean;
}

/** Says that a file does not begin with a session header. */
export class NotSession extends Error {
  override name = 'NotSession';

  constructor() {
    super('The file does not begin with a session header: choose a session file of scorel or Pi.');
  }
}

type Line = { [key: string]: unknown };

/**
 * Reads a session file. Lines that are not JSON are passed over and listed in `damage`,
 * the first line that reads must be the header, later headers are no entries. It throws
 * NotSession.
 */
export function readSession(data: Uint8Array | string): SessionFile {
  // A byte order mark stays: the first line is then no header, as it is to Pi.
  const text =
    typeof data === 'string' ? data : new TextDecoder('utf-8', { ignoreBOM: true }).decode(data);
  const file: SessionFile = { header: null, entries: [], migrated: false, damage: [], torn: false };
  if (text === '') {
    return file;
  }
  const lines = readLines(text, file);
  const header = lines[0];
  if (header?.type !== 'session' || typeof header.id !== 'string') {
    throw new NotSession();
  }
  // As JavaScript compares it: a text counts as the number it spells.
  const version = (header.version ?? 1) as number;
  if (version < VERSION) {
    file.migrated = true;
    migrate(lines, header.id, version);
  }
  file.header = header as unknown as Header;
  file.entries = lines.filter((line) => line.type !== 'session') as unknown as Entry[];
  return file;
}

/** The lines that read, the header among them. */
function readLines(text: string, file: SessionFile): Line[] {
  const lines: Line[] = [];
  for (let start = 0, number = 1; start < text.length; number++) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    const line = text.slice(start, end);
    start = end + 1;
    if (line.trim() === '') {
      continue;
    }
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      file.damage.push({ line: number, what: 'it is not JSON' });
      file.torn = feed < 0;
      continue;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      file.damage.push({ line: number, what: 'it is not a JSON object' });
    }
    if (value) {
      lines.push(value as Line);
    }
  }
  return lines;
}

const isObject = (line: unknown): boolean =>
  typeof line === 'object' && line !== null && !Array.isArray(line);

/** Brings the lines of a file of version 1 or 2 to version 3. */
function migrate(lines: readonly Line[], sessionId: string, version: number): void {
  if (version < 2) {
    addIds(lines, sessionId);
  }
  for (const line of lines) {
    const message = line.message as Line | null | undefined;
    if (line.type === 'session') {
      line.version = VERSION;
    } else if (line.type === 'message' && isObject(message) && message?.role === 'hookMessage') {
      message.role = 'custom';
    }
  }
}

/**
 * Chains the entries of version 1, which have no ids, in file order. A compaction names
 * the first kept entry by its index among the lines that read, the header included; only
 * an entry that has its id by then can be meant.
 */
function addIds(lines: readonly Line[], sessionId: string): void {
  const taken = new Set<string>();
  let parentId: string | null = null;
  for (const [i, line] of lines.entries()) {
    if (line.type === 'session' || !isObject(line)) {
      continue;
    }
    line.id = deriveId(sessionId, i, taken);
    line.parentId = parentId;
    parentId = line.id as string;
    const { firstKeptEntryIndex: index } = line;
    if (line.type === 'compaction' && typeof index === 'number') {
      const kept = lines[index];
      if (kept && kept.type !== 'session') {
        line.firstKeptEntryId = kept.id;
      }
      delete line.firstKeptEntryIndex;
    }
  }
}

/** The same id at every reading, and the one that Go derives. */
function deriveId(sessionId: string, index: number, taken: Set<string>): string {
  for (let n = 0; ; n++) {
    const sum = sha256(new TextEncoder().encode(`${sessionId}\n${index}\n${n}`));
    const id = Array.from(sum.subarray(0, 4), (b) => b.toString(16).padStart(2, '0')).join('');
    if (!taken.has(id)) {
      taken.add(id);
      return id;
    }
  }
}
