import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync } from "node:zlib";
import type { Plugin } from "vite";
import { sessionPage } from "./session-page.ts";

/** Where the build puts the service worker: at the root, so that its scope is the whole page. */
export const serviceWorker = "sw.js";

interface Chunk {
  file: string;
  imports?: string[];
  isDynamicEntry?: boolean;
}

/**
 * Gives the service worker of a build the list of its files: the page, everything that it can open, its workers, styles
 * and icons. Highlighting and its grammars are megabytes; they are cached once used. The version is a hash of all
 * contents, so that a build with another file has another service worker, which is how browsers detect an update.
 */
export function shell(): Plugin {
  let dist = "";
  return {
    name: "scorel-shell",
    apply: "build",
    config({ build }) {
      if (build?.rolldownOptions?.input) {
        return; // a build of something else, such as the gallery
      }
      dist = "dist";
      const entryFileNames = ({ name }: { name: string }) =>
        name === "sw" ? serviceWorker : "assets/[name]-[hash].js";
      return {
        build: { rolldownOptions: { input: ["index.html", "g.html", "src/shell/sw.ts"], output: { entryFileNames } } },
      };
    },
    configResolved({ root, build }) {
      dist &&= resolve(root, build.outDir);
    },
    closeBundle: {
      order: "post",
      handler() {
        if (!dist) {
          return;
        }
        const files = shellFiles(dist, JSON.parse(readFileSync(join(dist, ".vite/manifest.json"), "utf8")));
        const hash = createHash("sha256");
        for (const file of files) {
          hash.update(`${file}\0`).update(readFileSync(join(dist, file === "/" ? "index.html" : file)));
        }
        const value = JSON.stringify({ version: hash.digest("hex").slice(0, 16), files });
        const path = join(dist, serviceWorker);
        const code = readFileSync(path, "utf8");
        if (!code.includes("__SHELL__") || /^\s*(import|export)\b/m.test(code)) {
          throw new Error("the service worker has no place for its files, or is not one file");
        }
        writeFileSync(
          path,
          code.replace("__SHELL__", () => value),
        );
        compress(dist, files);
      },
    },
  };
}

/**
 * Compresses the texts of a version a second time, with brotli: a sixth smaller than gzip, and too slow for each
 * request.
 */
function compress(dist: string, files: string[]): void {
  for (const file of files.map((each) => join(dist, each === "/" ? "index.html" : each))) {
    if (/\.(js|css|html|svg|webmanifest)$/.test(file)) {
      writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file)));
    }
  }
}

/** Returns the paths of a version. */
function shellFiles(dist: string, manifest: Record<string, Chunk>): string[] {
  const wanted = new Set<string>();
  const walk = (key: string): void => {
    const chunk = manifest[key];
    if (!chunk || wanted.has(chunk.file)) {
      return;
    }
    wanted.add(chunk.file);
    chunk.imports?.forEach(walk);
  };
  walk("style.css");
  // Each part imports the scripts that every page begins with.
  for (const [key, { isDynamicEntry }] of Object.entries(manifest)) {
    if (key.startsWith("src/") && isDynamicEntry) {
      walk(key);
    }
  }
  // Workers are built separately and are not in the manifest; one of them highlights.
  const known = new Set(Object.values(manifest).map(({ file }) => file));
  for (const name of readdirSync(join(dist, "assets"))) {
    if (!known.has(`assets/${name}`) && !name.startsWith("highlight-")) {
      wanted.add(`assets/${name}`);
    }
  }
  const root = readdirSync(dist).filter((name) => /\.(svg|png|webmanifest)$/.test(name));
  return ["/", `/${sessionPage}`, ...[...wanted, ...root].sort().map((name) => `/${name}`)];
}
