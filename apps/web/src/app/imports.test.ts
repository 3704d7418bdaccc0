// @vitest-environment node
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";

const src = join(import.meta.dirname, "..");

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

/**
 * Returns the files of this project that a file imports statically, including types. Pages loaded on demand are not
 * included.
 */
function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/^(?:import|export)\b[^;]*?from "(\.[^"]+)"/gm)].flatMap(([, name]) => {
    const path = join(dirname(file), name ?? "");
    return [`${path}.ts`, `${path}.tsx`].filter((each) => existsSync(each));
  });
}

/** Returns every cycle of a graph, as the names along it. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (node: string, path: string[]): void => {
    const at = path.indexOf(node);
    if (at >= 0) {
      circles.push([...path.slice(at), node].join(" > "));
    } else if (!done.has(node)) {
      for (const next of graph.get(node) ?? []) {
        walk(next, [...path, node]);
      }
      done.add(node);
    }
  };
  for (const node of graph.keys()) {
    walk(node, []);
  }
  return circles;
}

it("no file imports itself through others", () => {
  const files = filesBelow(src);
  const name = (file: string) => relative(src, file);
  expect(files.length).toBeGreaterThan(100);
  expect(circlesOf(new Map(files.map((file) => [name(file), importsOf(file).map(name)])))).toEqual([]);
});

/** Returns the folders below `top` and those that the files in each import. `part` names the folder of a file. */
function foldersOf(top: string, part: (file: string) => string): Map<string, string[]> {
  const graph = new Map<string, string[]>();
  for (const file of filesBelow(top)) {
    const from = part(relative(top, file));
    const others = importsOf(file)
      .map((each) => relative(top, each))
      .filter((each) => !each.startsWith(".."))
      .map(part)
      .filter((to) => to !== from);
    graph.set(from, [...(graph.get(from) ?? []), ...others]);
  }
  return graph;
}

it("no feature imports itself through others", () => {
  const graph = foldersOf(join(src, "features"), (file) => file.split("/")[0] ?? "");
  expect(graph.get("chat")).toContain("shared");
  expect(circlesOf(graph)).toEqual([]);
});

it("no folder of a session's page imports itself through others", () => {
  const graph = foldersOf(join(src, "features", "chat"), dirname);
  expect(graph.get("transcript")).toContain("messages");
  expect(circlesOf(graph)).toEqual([]);
});

it("a cycle is found", () => {
  const graph = new Map(Object.entries({ a: ["b"], b: ["c", "d"], c: [], d: ["b"] }));
  expect(circlesOf(graph)).toEqual(["b > d > b"]);
});
