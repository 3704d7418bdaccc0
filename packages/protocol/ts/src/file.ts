// Session files, of scorel and Pi, of versions 1 to 3: the rules of ReadFile in the
// Go package session. Pure. Numbers are decoded as doubles here, so one above 2^53
// differs from what is in the file.

import type { Entry, Header } from "./gen/session.ts";
import { MAX_LINE_DEPTH, VERSION } from "./gen/session.ts";
import { sha256 } from "./sha256.ts";

/** One line of a file that is not an entry. It stays in the file and is skipped. */
export interface Damage {
  /** From 1. */
  line: number;
  what: string;
}

export interface SessionFile {
  /** null for an empty file: a session that has not begun. */
  header: Header | null;
  /** In the form of version 3, whatever the file's version. */
  entries: Entry[];
  /** The file is of version 1 or 2, so the entries differ from what is on disk. */
  migrated: boolean;
  damage: Damage[];
  /** What follows the last LF is not JSON: an incomplete write. */
  torn: boolean;
}

/** Thrown when the file does not begin with a session header. */
export class NotSession extends Error {
  override name = "NotSession";

  constructor() {
    super("The file does not begin with a session header: choose a session file of scorel or Pi.");
  }
}

type Line = { [key: string]: unknown };

/**
 * Reads a session file. Lines that are not JSON are skipped and listed in `damage`,
 * the first valid line must be the header, and later headers are not entries. It
 * throws NotSession.
 */
export function readSession(data: Uint8Array | string): SessionFile {
  // A byte order mark is kept: the first line is then not a header, as in Pi.
  const text = typeof data === "string" ? data : new TextDecoder("utf-8", { ignoreBOM: true }).decode(data);
  const file: SessionFile = { header: null, entries: [], migrated: false, damage: [], torn: false };
  if (text === "") {
    return file;
  }
  const lines = readLines(text, file);
  const header = lines[0];
  if (header?.type !== "session" || typeof header.id !== "string") {
    throw new NotSession();
  }
  const version = versionOf(header.version ?? 1);
  if (version < VERSION) {
    file.migrated = true;
    migrate(lines, header.id, version);
  }
  file.header = header as unknown as Header;
  file.entries = lines.filter((line) => line.type !== "session") as unknown as Entry[];
  return file;
}

/** A version is a number. One of another kind counts as the current version. */
const versionOf = (version: unknown): number => (typeof version === "number" ? version : VERSION);

/** Returns the valid lines, including the header. */
function readLines(text: string, file: SessionFile): Line[] {
  const lines: Line[] = [];
  for (let start = 0, number = 1; start < text.length; number++) {
    const feed = text.indexOf("\n", start);
    const end = feed < 0 ? text.length : feed;
    const line = text.slice(start, end);
    start = end + 1;
    if (line.trim() === "") {
      continue;
    }
    let value: unknown;
    const flat = flattened(line);
    try {
      value = JSON.parse(flat ?? line);
    } catch {
      file.damage.push({ line: number, what: "it is not JSON" });
      file.torn = feed < 0;
      continue;
    }
    if (flat !== undefined && isObject(value)) {
      file.damage.push({ line: number, what: "it nests too deep to be read as a whole" });
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      file.damage.push({ line: number, what: "it is not a JSON object" });
    }
    if (value) {
      lines.push(value as Line);
    }
  }
  return lines;
}

/** Replaces values that nest deeper than MAX_LINE_DEPTH. */
const TOO_DEEP = '"[nested too deeply to be read]"';

/**
 * Replaces values that nest too deep by a text, so that the rest of the line can be
 * read, as in Go; undefined for every other line.
 */
function flattened(line: string): string | undefined {
  // Nearly every line has fewer brackets than the limit.
  if (line.split(/[{[]/, MAX_LINE_DEPTH + 2).length <= MAX_LINE_DEPTH + 1) {
    return undefined;
  }
  let [flat, copied, depth, deep] = ["", 0, 0, false];
  // Match whole strings, and brackets outside of them.
  for (const token of line.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    const bracket = token[0];
    if (bracket === "{" || bracket === "[") {
      depth++;
      if (depth === MAX_LINE_DEPTH + 1) {
        flat += line.slice(copied, token.index) + TOO_DEEP;
        deep = true;
      }
    } else if (bracket === "}" || bracket === "]") {
      if (depth === MAX_LINE_DEPTH + 1) {
        copied = token.index + 1;
      }
      depth--;
    }
  }
  return deep ? flat + line.slice(copied) : undefined;
}

const isObject = (line: unknown): boolean => typeof line === "object" && line !== null && !Array.isArray(line);

/** Converts the lines of a file of version 1 or 2 to version 3. */
function migrate(lines: readonly Line[], sessionId: string, version: number): void {
  if (version < 2) {
    addIds(lines, sessionId);
  }
  for (const line of lines) {
    const message = line.message as Line | null | undefined;
    if (line.type === "session") {
      line.version = VERSION;
    } else if (line.type === "message" && isObject(message) && message?.role === "hookMessage") {
      message.role = "custom";
    }
  }
}

/**
 * Gives the entries of version 1, which have no ids, ids and parents in file order. A
 * compaction names the first kept entry by its index among the valid lines, including
 * the header; it can only refer to an entry that already has its id.
 */
function addIds(lines: readonly Line[], sessionId: string): void {
  const taken = new Set<string>();
  let parentId: string | null = null;
  for (const [i, line] of lines.entries()) {
    if (line.type === "session" || !isObject(line)) {
      continue;
    }
    line.id = deriveId(sessionId, i, taken);
    line.parentId = parentId;
    parentId = line.id as string;
    const { firstKeptEntryIndex: index } = line;
    if (line.type === "compaction" && typeof index === "number") {
      const kept = lines[index];
      if (kept && kept.type !== "session") {
        line.firstKeptEntryId = kept.id;
      }
      delete line.firstKeptEntryIndex;
    }
  }
}

/** Derives the same id on every read, equal to the one that Go derives. */
function deriveId(sessionId: string, index: number, taken: Set<string>): string {
  for (let n = 0; ; n++) {
    const sum = sha256(new TextEncoder().encode(`${sessionId}\n${index}\n${n}`));
    const id = Array.from(sum.subarray(0, 4), (b) => b.toString(16).padStart(2, "0")).join("");
    if (!taken.has(id)) {
      taken.add(id);
      return id;
    }
  }
}
