import type { Host } from "../../../api/contract";
import type { Requests } from "../../../api/types";

/** Where the files are that a prompt can name. */
export interface FileScope {
  host: Host;
  place: Pick<Requests["find_files"]["request"], "sessionId" | "projectId">;
  /** This browser may see files of the machine. */
  allowed: boolean;
}

/** A path that is being written: where it begins, with its @, and what is typed of it. */
export interface FileQuery {
  start: number;
  query: string;
}

/** More than this is no path that anybody types. The host takes 256 bytes. */
const LONGEST = 80;

// An @ in a word is an address. Chinese and Japanese put no space before it.
const beforeCaret = /(?:^|[\s([{\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef])@(?:"([^"\n]*)|([^\s"@]*))$/;

/** The path that is being written before the caret, or null. */
export function fileQuery(text: string, caret: number): FileQuery | null {
  const found = beforeCaret.exec(text.slice(0, caret));
  // In the middle of a word nothing is being written.
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

/** A path as it stands in a prompt. One that has spaces stands in quotes. */
export function mention(path: string): string {
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}

/**
 * The text with a path in the place of what was typed of it, and where the caret goes. A folder is left open: what is
 * typed next names something in it.
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

/** Whether the text has the characters of the query in their order, as the host looks for them. */
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
