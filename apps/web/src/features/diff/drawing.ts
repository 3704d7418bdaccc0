// How rows are drawn: in blocks, so that the page never stands still for them.
import type { KeyboardEvent } from "react";
import type { DiffRow } from "./rows";

/** Rows that are drawn at once: more than these take longer than a frame on a slow phone. */
export const blockRows = 16;

/** Rows in blocks. */
export function inBlocks(rows: readonly DiffRow[]): DiffRow[][] {
  const blocks: DiffRow[][] = [];
  for (let i = 0; i < rows.length; i += blockRows) {
    blocks.push(rows.slice(i, i + blockRows));
  }
  return blocks;
}

/** How many blocks are one while they are far away. */
const groupBlocks = 8;

/** Blocks in groups, each with the index of its first block and the number of its rows. */
export function inGroups(blocks: readonly DiffRow[][]): { from: number; group: DiffRow[][]; count: number }[] {
  return Array.from({ length: Math.ceil(blocks.length / groupBlocks) }, (_, g) => {
    const from = g * groupBlocks;
    const group = blocks.slice(from, from + groupBlocks);
    return { from, group, count: group.reduce((sum, rows) => sum + rows.length, 0) };
  });
}

/** The first so many rows. A block that is whole stays the same, and is not drawn again when more rows follow. */
export function firstRows(blocks: readonly DiffRow[][], count: number): DiffRow[][] {
  const whole = Math.floor(count / blockRows);
  const rest = blocks[whole]?.slice(0, count % blockRows) ?? [];
  return rest.length > 0 ? [...blocks.slice(0, whole), rest] : blocks.slice(0, whole);
}

/** The arrows go from line to line where lines can be chosen. */
export function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") {
    return;
  }
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-choice]")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = rows[event.key === "ArrowDown" ? at + 1 : Math.max(0, at - 1)];
  if (next) {
    event.preventDefault();
    next.focus();
  }
}
