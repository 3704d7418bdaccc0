// Fails when the script of the first page load exceeds its budget, when the pages of a machine and a session do, or
// when everything that can be opened exceeds its own. The first counts the static imports of the entry; the second adds
// everything that a session loads before code is highlighted; the third adds the pages and sheets that are loaded on
// demand.
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

// Workers are built separately and are not in the manifest. The link worker starts with the page, together with its
// static imports. The chunks for copies and for the paths to hosts are loaded once a host is used, pairing and the
// doctor with the pages that need them. The highlighter and its grammars are loaded with the first code.
const known = new Set(Object.values(manifest).map((chunk) => chunk.file));
const workers = readdirSync(join(dist, "assets"))
  .map((name) => `assets/${name}`)
  .filter((file) => file.endsWith(".js") && !known.has(file) && !file.includes("/highlight-"));
// The page of guest links is a separate document, with its own worker. The app never loads them.
const guests = workers.filter((file) => /\/guest-/.test(file));
const ofWorkers = workers.filter((file) => !guests.includes(file));
const started = ofWorkers.filter((file) => /\/worker-[^/]*$/.test(file));
if (started.length !== 1) {
  console.error(`size: expected one worker, found ${started.length}`);
  process.exit(1);
}
const first = [...importsOf(started[0])];

function importsOf(file, seen = new Set()) {
  if (!seen.has(file)) {
    seen.add(file);
    for (const [, name] of readFileSync(join(dist, file), "utf8").matchAll(/\bfrom\s*["']\.\/([^"']+)["']/g)) {
      importsOf(`assets/${name}`, seen);
    }
  }
  return seen;
}

// The scripts that every page begins with, and their imports.
const entry = keysOf("boot", "app");
// The page of a session is a part of a group of shared modules.
const firstRows = [...entry, ...keysOf("session")];
const session = [
  ...firstRows,
  ...[
    "device/SidebarSessions",
    "device/DevicePage",
    "chat/text/reader",
    "chat/approvals/Cards",
    "inbox/InboxWatch",
  ].map((name) => `src/features/${name}.tsx`),
];

/** Returns the keys of groups of modules, see chunks.ts. */
function keysOf(...names) {
  const keys = Object.keys(manifest).filter((key) => names.includes(manifest[key].name));
  if (keys.length !== names.length) {
    console.error(`size: dist/.vite/manifest.json does not have ${names.join(", ")}; run \`npm run build\` first`);
    process.exit(1);
  }
  return keys;
}

// Pages and sheets are lazy chunks of our own code.
const pages = Object.keys(manifest).filter((key) => key.startsWith("src/features/") && manifest[key].isDynamicEntry);
const groups = [
  { name: "first load", budget: 130_000, keys: staticClosure(entry), workers: first },
  {
    name: "first load and the first rows of a session",
    budget: 190_000,
    keys: staticClosure(firstRows),
    workers: first,
  },
  {
    name: "first load and a session",
    budget: 265_000,
    keys: staticClosure(session),
    workers: ofWorkers.filter((file) => !/\/(doctor|pairing)-[^/]*$/.test(file)),
  },
  {
    // 425 kB until providers and models could be added, whose forms need 2.5 kB.
    name: "everything that can be opened",
    budget: 428_000,
    keys: staticClosure([...firstRows, ...pages]),
    workers: ofWorkers,
  },
  { name: "a guest link", budget: 185_000, keys: staticClosure(["g.html"]), workers: guests },
];

let failed = false;
for (const { name, budget, keys, workers } of groups) {
  const files = [...[...keys].map((key) => manifest[key].file), ...workers];
  const total = files.reduce((sum, file) => sum + gzipSize(file), 0);
  const over = total > budget;
  failed ||= over;
  console.log(
    `${name}: ${(total / 1000).toFixed(1)} kB gzip of ${(budget / 1000).toFixed(1)} kB${over ? " - TOO LARGE" : ""}`,
  );
}
process.exit(failed ? 1 : 0);
