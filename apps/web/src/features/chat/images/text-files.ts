import { t } from "../../../i18n/chat";

/** A text file sent as part of a prompt's text. */
export interface TextFile {
  name: string;
  text: string;
}

/** A file that the host has stored for the session. The prompt mentions its path. */
export interface StoredFile {
  name: string;
  path: string;
  size: number;
}

/** A file that is part of a prompt's text. */
export type FileInText = TextFile | StoredFile;

/** The limits in bytes of one file, and of all files of a message. A message has at most 1 MiB. */
export const MAX_TEXT_FILE = 256 << 10;
export const MAX_TEXT_FILES = 512 << 10;

/** The header of a file in a prompt. Models read it, so it is not translated. */
const HEAD = "Attached file: ";

/** Returns the name of a file for prompts and messages. */
export function nameOf(file: File): string {
  return cleanName(file.name) || t("chat.attached.theFile");
}

/** Reads the bytes of a file. Rejects with a sentence if it cannot be read. */
export function bytesOf(file: File): Promise<ArrayBuffer> {
  return file.arrayBuffer().catch(() => {
    throw new Error(t("chat.attached.unreadable", { name: nameOf(file) })); // a folder, or a deleted file
  });
}

/** Reads a text file unchanged, except for its last line break; null if it is too large or not text. */
export async function readTextFile(file: File): Promise<TextFile | null> {
  if (file.size > MAX_TEXT_FILE) {
    return null;
  }
  const bytes = await bytesOf(file);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? null : { name: nameOf(file), text: text.replace(/\n$/, "") };
  } catch {
    return null;
  }
}

// Cleans a name, which must fit on a line of its own.
function cleanName(name: string): string {
  return name
    .replace(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, 200);
}

/**
 * Returns the prompt as it is sent: the text, then each text file in a fence that does not occur in it, and each stored
 * file as the host writes it.
 */
export function joinFiles(text: string, files: readonly FileInText[]): string {
  return [text, ...files.map(blockOf)].filter((part) => part !== "").join("\n\n");
}

function blockOf(file: FileInText): string {
  if ("path" in file) {
    return `${HEAD}${file.name}\nPath: ${file.path}\nSize: ${file.size} bytes`;
  }
  const { name, text } = file;
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${HEAD}${name}\n${fence}\n${text}\n${fence}`;
}

/** Splits a prompt into its text and the files at its end. */
export function splitFiles(prompt: string): { text: string; files: FileInText[] } {
  for (let at = prompt.indexOf(HEAD); at >= 0; at = prompt.indexOf(HEAD, at + 1)) {
    const begins = at === 0 || prompt.startsWith("\n\n", at - 2);
    const files = begins ? filesFrom(prompt, at) : null;
    if (files) {
      return { text: prompt.slice(0, Math.max(0, at - 2)), files };
    }
  }
  return { text: prompt, files: [] };
}

/** Reads the files from a position to the end; null if there is anything else. */
function filesFrom(prompt: string, at: number): FileInText[] | null {
  const files: FileInText[] = [];
  for (let next = at; ; next += 2) {
    const found = storedAt(prompt, next) ?? textAt(prompt, next);
    if (!found) {
      return null;
    }
    files.push(found.file);
    next = found.end;
    if (next === prompt.length) {
      return files;
    }
    if (!prompt.startsWith("\n\n", next)) {
      return null;
    }
  }
}

interface FoundFile {
  file: FileInText;
  /** The index after it in the prompt. */
  end: number;
}

function storedAt(prompt: string, at: number): FoundFile | null {
  const form = /Attached file: ([^\n]+)\nPath: ([^\n]+)\nSize: (\d{1,15}) bytes(?=\n\n|$)/y;
  form.lastIndex = at;
  const [, name, path, size] = form.exec(prompt) ?? [];
  return name && path ? { file: { name, path, size: Number(size) }, end: form.lastIndex } : null;
}

function textAt(prompt: string, at: number): FoundFile | null {
  const head = /Attached file: ([^\n]+)\n(`{3,})(?=\n)/y;
  head.lastIndex = at;
  const [, name, fence] = head.exec(prompt) ?? [];
  const from = head.lastIndex;
  const end = name && fence ? prompt.indexOf(`\n${fence}`, from + 1) : -1;
  if (!name || !fence || end < 0) {
    return null;
  }
  return { file: { name, text: prompt.slice(from + 1, end) }, end: end + 1 + fence.length };
}
