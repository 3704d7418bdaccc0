import type { DiffLine } from "../../diff/model";

/**
 * The lines of a file after one more part of it. A part may end within a line, and in a text that ends with a line
 * break the last line is empty. Lines that are complete stay what they are.
 */
export function linesAfter(before: readonly DiffLine[], part: string): DiffLine[] {
  const lines = before.slice(0, -1);
  const open = before.at(-1)?.text ?? "";
  for (const text of (open + part).split("\n")) {
    lines.push({ kind: "same", text, old: 0, new: lines.length + 1 });
  }
  return lines;
}

/** The lines as they are counted: without the empty one after the last line break. */
export function countedLines(lines: readonly DiffLine[]): readonly DiffLine[] {
  return lines.at(-1)?.text === "" ? lines.slice(0, -1) : lines;
}

const pictures = /\.(?:avif|bmp|gif|heic|ico|jpe?g|png|tiff?|webp)$/i;

/** Whether a file is an image, as far as its name says so. */
export function isPicture(path: string): boolean {
  return pictures.test(path);
}
