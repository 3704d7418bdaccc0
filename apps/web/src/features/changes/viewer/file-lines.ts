import type { DiffLine } from "../../diff/model";

/**
 * Returns the lines of a file after one more part of it. A part may end within a line; if it ends with a line break,
 * the last line is empty. Complete lines keep their identity.
 */
export function linesAfter(before: readonly DiffLine[], part: string): DiffLine[] {
  const lines = before.slice(0, -1);
  const open = before.at(-1)?.text ?? "";
  for (const text of (open + part).split("\n")) {
    lines.push({ kind: "same", text, old: 0, new: lines.length + 1 });
  }
  return lines;
}

/** Returns the lines to count: without the empty one after the last line break. */
export function countedLines(lines: readonly DiffLine[]): readonly DiffLine[] {
  return lines.at(-1)?.text === "" ? lines.slice(0, -1) : lines;
}

const pictures = /\.(?:avif|bmp|gif|heic|ico|jpe?g|png|tiff?|webp)$/i;

/** Reports whether a file's name is that of an image. */
export function isPicture(path: string): boolean {
  return pictures.test(path);
}
