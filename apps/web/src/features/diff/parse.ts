// Parses unified diffs of any source: the host's, git's, and those that a model wrote. Unrecognized text is shown as it
// is: every line that could change a file is a line of the result, because people decide by what they see.
import { type DiffFile, type DiffLine, type Hunk, newFile, type ParsedDiff } from "./model";

/** How many lines are parsed at once: more make the page block. */
export const READ_LINES = 20_000;

const hunkHead = /^@@+ -(\d+)(?:,(\d+))? (?:-\d+(?:,\d+)? )*\+(\d+)(?:,(\d+))? @@+ ?(.*)$/;

/** Lines of git that the heading already shows, or that nobody needs. */
const silent =
  /^(index |similarity index |dissimilarity index |new file mode |deleted file mode |(rename|copy) (from|to) )/;

const renameFrom = /^rename from (.*)$/;
const renameTo = /^rename to (.*)$/;

/** How many notes about a file are accepted before further ones are treated as its lines. */
const maxNotes = 12;

/** Parses at most `limit` lines. */
export function parseDiff(text: string, limit = READ_LINES): ParsedDiff {
  const lines = text.split("\n");
  if (lines.at(-1) === "") {
    lines.pop();
  }
  const reader = new Reader();
  const count = Math.min(lines.length, limit);
  for (let i = 0; i < count; i++) {
    reader.read(lines[i] ?? "", lines[i + 1] ?? "");
  }
  return { files: reader.files, unread: lines.length - count };
}

class Reader {
  readonly files: DiffFile[] = [];
  #file: DiffFile | null = null;
  #hunk: Hunk | null = null;
  /** The next line number in each version, and how many lines the hunk header still announces. */
  #at = { old: 0, new: 0 };
  #left = { old: 0, new: 0 };
  /** Whether the hunk has a header with its position. */
  #placed = false;
  /** Whether the names of the file were parsed. */
  #named = false;

  read(line: string, next: string): void {
    const promised = this.#left.old > 0 || this.#left.new > 0;
    if (line.startsWith("diff --git ")) {
      this.#begin(namesOf(line)[1]);
      return;
    }
    if (line.startsWith("--- ") && next.startsWith("+++ ") && !promised) {
      if (!this.#file || this.#named || this.#hunk) {
        this.#begin("");
      }
      this.#name(pathOf(line), null);
      return;
    }
    if (line.startsWith("+++ ") && this.#named && !this.#hunk) {
      this.#name(null, pathOf(line));
      return;
    }
    const head = hunkHead.exec(line);
    if (head) {
      this.#open(head);
      return;
    }
    if (!this.#hunk) {
      this.#remark(line);
      return;
    }
    this.#line(this.#hunk, line, promised);
  }

  #begin(path: string): void {
    this.#file = newFile(path);
    this.#hunk = null;
    this.#named = false;
    this.#left = { old: 0, new: 0 };
    this.files.push(this.#file);
  }

  #here(): DiffFile {
    if (!this.#file) {
      this.#begin("");
    }
    return this.#file as DiffFile;
  }

  #name(before: string | null, after: string | null): void {
    const file = this.#here();
    this.#named = true;
    if (before !== null) {
      file.from = before === "/dev/null" ? null : stripped(before, "a/");
      file.change = before === "/dev/null" ? "added" : file.change;
      return;
    }
    const path = after ?? "";
    if (path === "/dev/null") {
      file.change = "removed";
      file.path = file.from ?? file.path;
      file.from = null;
      return;
    }
    file.path = stripped(path, "b/");
    if (file.from === file.path) {
      file.from = null;
    } else if (file.from !== null) {
      file.change = "renamed";
    }
  }

  #open([, oldStart, oldCount, newStart, newCount, heading = ""]: RegExpExecArray): void {
    this.#at = { old: Number(oldStart), new: Number(newStart) };
    this.#left = { old: Number(oldCount ?? 1), new: Number(newCount ?? 1) };
    this.#start(heading, true);
  }

  #start(heading: string, placed: boolean): Hunk {
    this.#hunk = { heading, lines: [] };
    this.#placed = placed;
    this.#here().hunks.push(this.#hunk);
    return this.#hunk;
  }

  /** Handles a line outside a hunk. */
  #remark(line: string): void {
    const file = this.#here();
    const from = renameFrom.exec(line);
    const to = renameTo.exec(line);
    if (from) {
      file.from = unquoted(from[1] ?? "");
      file.change = "renamed";
    } else if (to) {
      file.path = unquoted(to[1] ?? "");
    } else if (/^new file /.test(line)) {
      file.change = "added";
    } else if (/^deleted file /.test(line)) {
      file.change = "removed";
    }
    if (line === "" || silent.test(line)) {
      return;
    }
    if (file.path === "" || file.notes.length >= maxNotes) {
      this.#line(this.#start("", false), line, false);
    } else {
      file.notes.push(line);
    }
  }

  #line(hunk: Hunk, line: string, promised: boolean): void {
    const mark = line[0] ?? (promised ? " " : "");
    const file = this.#here();
    const add = (kind: DiffLine["kind"], text: string, old: number, now: number) =>
      hunk.lines.push({ kind, text, old: this.#placed ? old : 0, new: this.#placed ? now : 0 });
    switch (mark) {
      case "+":
        file.added++;
        this.#left.new--;
        add("added", line.slice(1), 0, this.#at.new++);
        break;
      case "-":
        file.removed++;
        this.#left.old--;
        add("removed", line.slice(1), this.#at.old++, 0);
        break;
      case " ":
        this.#left.old--;
        this.#left.new--;
        add("same", line.slice(1), this.#at.old++, this.#at.new++);
        break;
      case "\\":
        add("note", line.slice(1).trim(), 0, 0);
        break;
      default:
        add("note", line, 0, 0);
    }
  }
}

/** Returns the name in "--- a/x" or "+++ b/x"; some programs append text after a tab. */
function pathOf(line: string): string {
  const name = line.slice(4);
  const tab = name.indexOf("\t");
  return unquoted(tab < 0 ? name : name.slice(0, tab));
}

/** Returns the names in "diff --git a/x b/x", which are equal unless later lines differ. */
function namesOf(line: string): [string, string] {
  const rest = line.slice("diff --git ".length);
  const half = (rest.length - 1) / 2;
  const [before, after] = [rest.slice(0, half), rest.slice(half + 1)];
  if (before.slice(2) === after.slice(2)) {
    return [stripped(unquoted(before), "a/"), stripped(unquoted(after), "b/")];
  }
  const at = rest.lastIndexOf(" b/");
  return at < 0 ? ["", rest] : [rest.slice(0, at), rest.slice(at + 3)];
}

function stripped(path: string, prefix: string): string {
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

const escapes: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11, '"': 34, "\\": 92 };

/** Unquotes a name with unusual characters, which git quotes like C, byte by byte. */
function unquoted(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"') || name.length < 2) {
    return name;
  }
  const bytes: number[] = [];
  for (const [, octal, letter, plain] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gsu)) {
    if (octal) {
      bytes.push(Number.parseInt(octal, 8));
    } else if (letter) {
      bytes.push(escapes[letter] ?? letter.charCodeAt(0));
    } else {
      bytes.push(...new TextEncoder().encode(plain));
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
