import type { TreeNode } from "../../../api/types";

export interface TreeLine {
  node: TreeNode;
  depth: number;
}

/** Returns the tree as lines from the top. A chain without branches stays at its depth, so that it fits a phone. */
export function treeLines(nodes: readonly TreeNode[]): TreeLine[] {
  const children = new Map<string, TreeNode[]>();
  for (const node of nodes) {
    const siblings = children.get(node.parentId ?? "");
    if (siblings) {
      siblings.push(node);
    } else {
      children.set(node.parentId ?? "", [node]);
    }
  }
  const lines: TreeLine[] = [];
  const todo: TreeLine[] = [];
  const push = (parent: string, depth: number) => {
    const below = children.get(parent) ?? [];
    const deeper = below.length > 1 ? depth + 1 : depth;
    for (const node of [...below].reverse()) {
      todo.push({ node, depth: deeper });
    }
  };
  push("", 0);
  for (let line = todo.pop(); line; line = todo.pop()) {
    lines.push(line);
    push(line.node.id, line.depth);
  }
  return lines;
}
