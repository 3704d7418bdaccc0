// Fails when the first page load brings more script than its budget allows, or
// when all pages together, which load one by one, have grown past theirs. The
// first counts what the entry imports statically; the second adds the chunks that
// every session loads before any code is highlighted.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const dist = new URL("../dist/", import.meta.url).pathname;
const manifest = JSON.parse(readFileSync(join(dist, ".vite/manifest.json"), "utf8"));

function staticClosure(keys, seen = new Set()) {
  for (const key of keys) {
    if (!seen.has(key)) {
      seen.add(key);
      staticClosure(manifest[key].imports ?? [], seen);
    }
  }
  return seen;
}

function gzipSize(file) {
  return gzipSync(readFileSync(join(dist, file)), { level: 9 }).length;
}

// A worker is built apart and stands in no manifest; the link worker starts with the page.
const known = new Set(Object.values(manifest).map((chunk) => chunk.file));
const workers = readdirSync(join(dist, "assets"))
  .map((name) => `assets/${name}`)
  .filter((file) => file.endsWith(".js") && !known.has(file));

const entry = Object.keys(manifest).find((key) => manifest[key].isEntry);
if (!entry) {
  console.error("size: no entry in dist/.vite/manifest.json; run `npm run build` first");
  process.exit(1);
}
// Pages are lazy chunks of our own; a highlighter or a grammar never is one.
const pages = Object.keys(manifest).filter((key) => key.startsWith("src/features/") && manifest[key].isDynamicEntry);
const highlighter = pages.filter((key) => key.includes("highlight"));
const groups = [
  { name: "first load", budget: 220_000, keys: staticClosure([entry]) },
  {
    name: "first load and every page",
    budget: 245_000,
    keys: staticClosure([entry, ...pages.filter((key) => !highlighter.includes(key))]),
  },
];

let failed = false;
for (const { name, budget, keys } of groups) {
  const files = [...[...keys].map((key) => manifest[key].file), ...workers];
  const total = files.reduce((sum, file) => sum + gzipSize(file), 0);
  const over = total > budget;
  failed ||= over;
  console.log(`${name}: ${(total / 1000).toFixed(1)} kB gzip of ${budget / 1000} kB${over ? " - TOO LARGE" : ""}`);
}
process.exit(failed ? 1 : 0);
