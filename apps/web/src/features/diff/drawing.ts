// Renders rows in blocks, so that the page never blocks.
import type { KeyboardEvent } from "react";
import type { DiffRow } from "./rows";

/** How many rows are rendered at once: more take longer than a frame on a slow phone. */
export const blockRows = 16;

/** Splits rows into blocks. */
export function inBlocks(rows: readonly DiffRow[]): DiffRow[][] {
  const blocks: DiffRow[][] = [];
  for (let i = 0; i < rows.length; i += blockRows) {
    blocks.push(rows.slice(i, i + blockRows));
  }
  return blocks;
}

/** How many blocks are one element while they are far away. */
const groupBlocks = 8;

/** Groups blocks, each group with the index of its first block and its rows. */
export function inGroups(blocks: readonly DiffRow[][]): { from: number; group: DiffRow[][]; rows: DiffRow[] }[] {
  return Array.from({ length: Math.ceil(blocks.length / groupBlocks) }, (_, g) => {
    const from = g * groupBlocks;
    const group = blocks.slice(from, from + groupBlocks);
    return { from, group, rows: group.flat() };
  });
}

/**
 * Returns the first `count` rows. A complete block keeps its identity, and is not rendered again when more rows follow.
 */
export function firstRows(blocks: readonly DiffRow[][], count: number): DiffRow[][] {
  const whole = Math.floor(count / blockRows);
  const rest = blocks[whole]?.slice(0, count % blockRows) ?? [];
  return rest.length > 0 ? [...blocks.slice(0, whole), rest] : blocks.slice(0, whole);
}

/** Moves the focus from line to line with the arrow keys, if lines are selectable. */
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
