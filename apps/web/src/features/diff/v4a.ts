// Parses the patches that models write: "*** Begin Patch", a part for each file, and no line numbers. Such a patch is
// shown until the host has made a diff of it, or instead of one.
import { type DiffFile, type Hunk, newFile, type ParsedDiff } from "./model";
import { READ_LINES } from "./parse";

const begin = /^\s*\*\*\* Begin Patch/;
const part = /^\*\*\* (Add|Update|Delete|Move) File: (.+)$/;
const move = /^\*\*\* Move to: (.+)$/;

/** Reports whether a text is such a patch. */
export function isPatch(text: string): boolean {
  return begin.test(text);
}

export function parsePatch(text: string, limit = READ_LINES): ParsedDiff {
  const lines = text.split("\n");
  const count = Math.min(lines.length, limit);
  const files: DiffFile[] = [];
  let hunk: Hunk | null = null;
  for (const line of lines.slice(0, count)) {
    const file = files.at(-1);
    const head = part.exec(line);
    if (head) {
      files.push(fileOf(head[1] ?? "", head[2] ?? ""));
      hunk = null;
    } else if (file && move.test(line)) {
      file.from = file.path;
      file.path = move.exec(line)?.[1] ?? "";
      file.change = "renamed";
    } else if (file && line.startsWith("@@")) {
      hunk = { heading: line.slice(2).trim(), lines: [] };
      file.hunks.push(hunk);
    } else if (file && !line.startsWith("*** ")) {
      if (!hunk) {
        hunk = { heading: "", lines: [] };
        file.hunks.push(hunk);
      }
      take(file, hunk, line);
    }
  }
  for (const file of files) {
    file.hunks = file.hunks.filter(({ lines: [first, ...more] }) => first && (first.text !== "" || more.length > 0));
  }
  return { files, unread: lines.length - count };
}

function fileOf(what: string, name: string): DiffFile {
  const [from, to] = name.split(" -> ");
  if (what === "Move" && to) {
    return { ...newFile(to), from: from ?? null, change: "renamed" };
  }
  return { ...newFile(name), change: what === "Add" ? "added" : what === "Delete" ? "removed" : "changed" };
}

function take(file: DiffFile, hunk: Hunk, line: string): void {
  const text = line.slice(1);
  if (line.startsWith("+")) {
    file.added++;
    hunk.lines.push({ kind: "added", text, old: 0, new: 0 });
  } else if (line.startsWith("-")) {
    file.removed++;
    hunk.lines.push({ kind: "removed", text, old: 0, new: 0 });
  } else {
    hunk.lines.push({ kind: "same", text: line.startsWith(" ") ? text : line, old: 0, new: 0 });
  }
}
