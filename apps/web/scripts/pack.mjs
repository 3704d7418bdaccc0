// Packs the files of a folder into a zip file that the program embeds: `node scripts/pack.mjs FOLDER FILE`. The same
// files give the same bytes. What is compressed already is stored as it is.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { zipSync } from "fflate";

const [folder, file] = process.argv.slice(2);
const compressed = /\.(br|png|jpg|webp|woff2)$/;
const mtime = new Date(1980, 0, 1);
const files = {};
for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
  const full = join(folder, path);
  const name = relative(folder, full).split(sep).join("/");
  // What begins with a dot is for the build: the manifest of Vite, and the file that keeps the folder in git.
  if (statSync(full).isFile() && !name.split("/").some((part) => part.startsWith("."))) {
    files[name] = [readFileSync(full), { level: compressed.test(name) ? 0 : 9, mtime }];
  }
}
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, zipSync(files));
