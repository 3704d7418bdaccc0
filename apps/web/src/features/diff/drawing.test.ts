// @vitest-environment node
import { expect, it } from "vitest";
import { blockRows, firstRows, inBlocks } from "./drawing";
import type { DiffRow } from "./rows";

const rows = Array.from({ length: 3 * blockRows + 5 }, (_, i): DiffRow => ({ kind: "fold", key: String(i), count: 1 }));

it("keeps the rendered blocks when more rows follow", () => {
  const blocks = inBlocks(rows);
  for (const count of [0, 1, blockRows, blockRows + 24, 2 * blockRows, rows.length]) {
    expect(firstRows(blocks, count).flat()).toEqual(rows.slice(0, count));
  }
  const [few, more] = [firstRows(blocks, blockRows + 24), firstRows(blocks, rows.length)];
  expect(more[0]).toBe(few[0]);
  expect(more[1]).toBe(blocks[1]);
  expect(more).toHaveLength(4);
});
