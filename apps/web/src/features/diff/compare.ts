// Compares lines of two versions, and words of two lines.
import { diffLines, diffWordsWithSpace } from "diff";
import { type DiffFile, type DiffLine, newFile } from "./model";

/** With more differences, the comparison is skipped: all of one text is removed, all of the other added. */
const maxLineEdits = 600;

/** The same limit for the words of a line. */
const maxWordEdits = 80;

/** Longer lines are not compared word by word. */
const maxWords = 600;

/** Returns the changes of a file; null stands for a file that does not exist. The lines of a part have no numbers. */
export function compareTexts(path: string, before: string | null, after: string | null, part = false): DiffFile {
  const file = newFile(path);
  file.change = before === null ? "added" : after === null ? "removed" : "changed";
  const lines: DiffLine[] = [];
  let [old, now] = [1, 1];
  const pieces = diffLines(before ?? "", after ?? "", { maxEditLength: maxLineEdits }) ?? [
    { value: before ?? "", removed: true, added: false },
    { value: after ?? "", removed: false, added: true },
  ];
  for (const { value, added, removed } of pieces) {
    for (const text of linesOf(value)) {
      lines.push({
        kind: added ? "added" : removed ? "removed" : "same",
        text,
        old: added || part ? 0 : old++,
        new: removed || part ? 0 : now++,
      });
    }
  }
  file.added = lines.filter(({ kind }) => kind === "added").length;
  file.removed = lines.filter(({ kind }) => kind === "removed").length;
  if (lines.length > 0) {
    file.hunks.push({ heading: "", lines });
  }
  return file;
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** A piece of a line, and whether the other version differs here. */
export interface Piece {
  text: string;
  changed: boolean;
}

/** Returns the changes within a line; null if the two have too little in common. */
export function compareWords(before: string, after: string): { before: Piece[]; after: Piece[] } | null {
  if (before.length > maxWords || after.length > maxWords) {
    return null;
  }
  const pieces = diffWordsWithSpace(before, after, { maxEditLength: maxWordEdits });
  const kept = pieces?.reduce(
    (sum, { added, removed, value }) => (added || removed ? sum : sum + value.trim().length),
    0,
  );
  if (!pieces || !kept || kept * 3 < Math.max(before.trim().length, after.trim().length)) {
    return null;
  }
  const side = (other: "added" | "removed") =>
    pieces
      .filter((piece) => !piece[other])
      .map(({ value, added, removed }) => ({ text: value, changed: added || removed }));
  return { before: side("added"), after: side("removed") };
}
