import type { Host } from "../../../api/contract";
import type { Requests } from "../../../api/types";

/** The files and resources of MCP servers that a prompt can mention. */
export interface FileScope {
  host: Host;
  place: Pick<Requests["find_files"]["request"], "sessionId" | "projectId">;
  /** Whose MCP servers offer resources; "" until known. */
  projectId: string;
  /** Whether this browser may see files of the host. */
  allowed: boolean;
}

/** A path being typed: the position of its @, and the text after it. */
export interface FileQuery {
  start: number;
  query: string;
}

/** A longer text is not a typed path. The host accepts 256 bytes. */
const LONGEST = 80;

// An @ within a word is an address. Chinese and Japanese put no space before it.
const beforeCaret = /(?:^|[\s([{\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef])@(?:"([^"\n]*)|([^\s"@]*))$/;

/** Returns the path being typed before the caret, or null. */
export function fileQuery(text: string, caret: number): FileQuery | null {
  const found = beforeCaret.exec(text.slice(0, caret));
  // In the middle of a word, no path is being typed.
  if (!found || /^[\w./-]/.test(text.slice(caret))) {
    return null;
  }
  const quoted = found[1] !== undefined;
  const query = found[1] ?? found[2] ?? "";
  if (query.length > LONGEST) {
    return null;
  }
  return { start: caret - query.length - (quoted ? 2 : 1), query };
}

/** Returns a path as a prompt mentions it, in quotes if it contains spaces. */
export function mention(path: string): string {
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}

/**
 * Replaces the typed part by a path and returns the text and the caret. A folder is left open: further typing names
 * something in it.
 */
export function withPath(text: string, caret: number, start: number, path: string, folder: boolean) {
  const quoted = text[start + 1] === '"';
  const rest = text.slice(quoted && text[caret] === '"' ? caret + 1 : caret);
  const name = mention(folder ? `${path}/` : path);
  if (folder) {
    const inside = start + name.length - (name.endsWith('"') ? 1 : 0);
    return { text: text.slice(0, start) + name + rest, caret: inside };
  }
  const space = /^\s/.test(rest) ? "" : " ";
  return { text: text.slice(0, start) + name + space + rest, caret: start + name.length + 1 };
}

/** Replaces the typed part by a resource of an MCP server, and returns the text and the caret. */
export function withResource(text: string, caret: number, start: number, name: string) {
  const rest = text.slice(text[start + 1] === '"' && text[caret] === '"' ? caret + 1 : caret);
  const space = /^\s/.test(rest) ? "" : " ";
  return { text: `${text.slice(0, start)}@${name}${space}${rest}`, caret: start + name.length + 2 };
}

/** Reports whether the text contains the characters of the query in order, as the host matches them. */
export function inOrder(query: string, text: string): boolean {
  let from = 0;
  const within = text.toLowerCase();
  for (const each of query.toLowerCase()) {
    const at = within.indexOf(each, from);
    if (at < 0) {
      return false;
    }
    from = at + each.length;
  }
  return true;
}
