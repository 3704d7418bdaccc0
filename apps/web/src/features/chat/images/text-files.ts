import { t } from "../../../i18n/chat";

/** A text file that goes with a prompt. It becomes part of its text. */
export interface TextFile {
  name: string;
  text: string;
}

/** A file that the host has stored for the session. The prompt names its path. */
export interface StoredFile {
  name: string;
  path: string;
  size: number;
}

/** A file that is a part of a prompt's text. */
export type FileInText = TextFile | StoredFile;

/** Bytes of one file, and of all files of a message. A message has at most 1 MiB. */
export const MAX_TEXT_FILE = 256 << 10;
export const MAX_TEXT_FILES = 512 << 10;

/** Begins a file in a prompt. Models read it, and so it is in no other language. */
const HEAD = "Attached file: ";

/** What a file is called in a prompt and in messages. */
export function nameOf(file: File): string {
  return cleanName(file.name) || t("chat.attached.theFile");
}

/** The bytes of a file of this device. Rejects with a sentence where it cannot be read. */
export function bytesOf(file: File): Promise<ArrayBuffer> {
  return file.arrayBuffer().catch(() => {
    throw new Error(t("chat.attached.unreadable", { name: nameOf(file) })); // a folder, or a file that is gone
  });
}

/** Reads a text file as it is, without the line end that ends it; null where it is too large or no text. */
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

// The name stands in a line of its own.
function cleanName(name: string): string {
  return name
    .replace(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, 200);
}

/**
 * The prompt as it is sent: the text, and behind it each text file in a fence that it does not have itself, and each
 * stored file as the host writes it.
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

/** The text of a prompt, and the files that end it. */
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

/** The files from there to the end; null if anything else is there. */
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
  /** Where it ends in the prompt. */
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
