// @vitest-environment node
import { expect, test } from "vitest";
import type { TreeNode } from "../../../api/types";
import { treeLines } from "./tree-lines";

const node = (id: string, parentId?: string): TreeNode => ({ id, type: "message", ...(parentId ? { parentId } : {}) });

function drawn(nodes: TreeNode[]): string[] {
  return treeLines(nodes).map(({ node: { id }, depth }) => `${"  ".repeat(depth)}${id}`);
}

test("a chain stays at its depth, branches go one deeper", () => {
  expect(drawn([node("a"), node("b", "a"), node("c", "b"), node("d", "c"), node("x", "b"), node("y", "x")])).toEqual([
    "a",
    "b",
    "  c",
    "  d",
    "  x",
    "  y",
  ]);
});

test("several roots, and nodes with an unknown parent", () => {
  expect(drawn([node("a"), node("z"), node("b", "a")])).toEqual(["  a", "  b", "  z"]);
  expect(drawn([node("b", "gone")])).toEqual([]);
  expect(drawn([])).toEqual([]);
});

test("a long chain does not overflow the stack", () => {
  const chain = Array.from({ length: 2000 }, (_, i) => (i === 0 ? node("n0") : node(`n${i}`, `n${i - 1}`)));
  expect(treeLines(chain)).toHaveLength(2000);
});
