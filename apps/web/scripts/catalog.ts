import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileMessageOrThrow } from "@lingui/message-utils/compileMessage";
import type { Plugin } from "vite";

const english = fileURLToPath(new URL("../src/i18n/en/", import.meta.url));
const suffix = "?messages";

/**
 * Compiles a message catalog that is imported with "?messages". The page gets the parsed messages, so that it ships no
 * parser; a message that does not parse fails the build. A build also replaces each id by its position in its catalog,
 * wherever the id occurs in the code: the ids would be larger than the messages. A translation has the positions of the
 * English messages; a test finds missing ones, and until then the page shows those in English.
 */
export function catalog(): Plugin {
  let places: ReadonlyMap<string, string> | null = null;
  return {
    name: "scorel-catalog",
    enforce: "pre",
    configResolved({ command }) {
      places = command === "build" ? placesOfIds() : null;
    },
    load(id) {
      if (!id.endsWith(suffix)) {
        return null;
      }
      const file = id.slice(0, -suffix.length);
      this.addWatchFile(file);
      const texts = { ...read(join(english, basename(file))), ...read(file) };
      const compiled = Object.entries(texts).map(([key, text]) => [key, compileMessageOrThrow(text)] as const);
      const messages = places ? compiled.map(([, message]) => message) : Object.fromEntries(compiled);
      return { code: `export default ${JSON.stringify(messages)}`, moduleType: "js", map: null };
    },
    transform: {
      filter: { id: /\/src\/.*\.tsx?$/ },
      handler: (code) =>
        places ? { code: code.replace(/"(\w+\.[\w.]+)"/g, (all, id) => places?.get(id) ?? all), map: null } : null,
    },
  };
}

function read(file: string): Record<string, string> {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Returns the position of each id in its catalog, as a string for the code. */
function placesOfIds(): ReadonlyMap<string, string> {
  const catalogs = readdirSync(english).map((name) => Object.keys(read(join(english, name))));
  return new Map(catalogs.flatMap((ids) => ids.map((id, place) => [id, `"${place}"`])));
}
