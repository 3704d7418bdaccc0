import { t } from "../../../i18n/chat";

/** A text file that goes with a prompt. It becomes part of its text. */
export interface TextFile {
  name: string;
  text: string;
}

/** Bytes of one file, and of all files of a message. A message has at most 1 MiB. */
export const MAX_TEXT_FILE = 256 << 10;
export const MAX_TEXT_FILES = 512 << 10;

/** Begins a file in a prompt. Models read it, and so it is in no other language. */
const HEAD = "Attached file: ";

/** Reads a file of this device. Rejects with a sentence where it is none that can go with a prompt. */
export async function readTextFile(file: File): Promise<TextFile> {
  const name = cleanName(file.name) || t("chat.attached.theFile");
  if (file.size > MAX_TEXT_FILE) {
    throw new Error(t("chat.attached.tooLarge", { name }));
  }
  const bytes = await file.arrayBuffer().catch(() => {
    throw new Error(t("chat.attached.unreadable", { name })); // a folder, or a file that is gone
  });
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(t("chat.attached.notText", { name }));
  }
  if (text.includes("\0")) {
    throw new Error(t("chat.attached.notText", { name }));
  }
  return { name, text: text.replace(/\r\n/g, "\n").replace(/\n$/, "") };
}

// The name stands in a line of its own.
function cleanName(name: string): string {
  return name
    .replace(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, 200);
}

/** The prompt as it is sent: the text, and behind it each file in a fence that it does not have itself. */
export function joinFiles(text: string, files: readonly TextFile[]): string {
  return [text, ...files.map(blockOf)].filter((part) => part !== "").join("\n\n");
}

function blockOf({ name, text }: TextFile): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${HEAD}${name}\n${fence}\n${text}\n${fence}`;
}

/** The text of a prompt, and the files that end it. */
export function splitFiles(prompt: string): { text: string; files: TextFile[] } {
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
function filesFrom(prompt: string, at: number): TextFile[] | null {
  const files: TextFile[] = [];
  const head = /Attached file: ([^\n]+)\n(`{3,})(?=\n)/y;
  for (let next = at; ; next += 2) {
    head.lastIndex = next;
    const [, name, fence] = head.exec(prompt) ?? [];
    if (!name || !fence) {
      return null;
    }
    const from = head.lastIndex;
    const end = prompt.indexOf(`\n${fence}`, from + 1);
    if (end < 0) {
      return null;
    }
    files.push({ name, text: prompt.slice(from + 1, end) });
    next = end + 1 + fence.length;
    if (next === prompt.length) {
      return files;
    }
    if (!prompt.startsWith("\n\n", next)) {
      return null;
    }
  }
}
