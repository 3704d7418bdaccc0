import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";

const src = join(import.meta.dirname, "..");

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

/** What a file imports of ours: statically, types too. A page that is loaded when it is opened is none. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/^(?:import|export)\b[^;]*?from "(\.[^"]+)"/gm)].flatMap(([, name]) => {
    const path = join(dirname(file), name ?? "");
    return [`${path}.ts`, `${path}.tsx`].filter((each) => existsSync(each));
  });
}

it("no file imports itself by way of others", () => {
  const files = filesBelow(src);
  const imports = new Map(files.map((file) => [file, importsOf(file)]));
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, path: string[]): void => {
    const at = path.indexOf(file);
    if (at >= 0) {
      circles.push([...path.slice(at), file].map((each) => relative(src, each)).join(" > "));
    } else if (!done.has(file)) {
      for (const next of imports.get(file) ?? []) walk(next, [...path, file]);
      done.add(file);
    }
  };
  for (const file of files) walk(file, []);
  expect(files.length).toBeGreaterThan(100);
  expect(circles).toEqual([]);
});
