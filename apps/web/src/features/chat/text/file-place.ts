// Recognizes texts that name a file of the project. Text of a model or a command is untrusted: it is only matched
// against a pattern, and the host is asked nothing.

import type { FilePlace } from "../context/files-context";

/** Longer texts are not names. */
const maxText = 300;

const signs = "[\\p{L}\\p{N}_@.+$~/()[\\]-]";

/** A path, then lines: ":42", ":42:7", ":42-50", "#L42" or "#L42-L50". */
const shape = new RegExp(
  `^(${signs}+)(?::(\\d{1,7})(?:[-–](\\d{1,7})|:\\d{1,7})?:?|#L(\\d{1,7})(?:-L?(\\d{1,7}))?)?$`,
  "u",
);

/** Extensions of files that may be named without a folder. Others, as in "fmt.Println", prove nothing. */
const endings =
  /^(?:ba(?:sh|t)|c|cc|cfg|[cm]?[jt]s|clj|cmake|conf|cpp|css?|csv|dart|diff|erl|exs?|fish|go|gradle|graphql|h|hpp|hs|html?|ini|ipynb|java|jsonc?|[jt]sx|kts?|less|lock|lua|mdx?|mk|mod|nix|patch|php|p[ly]|properties|proto|ps1|r[bs]|rst|sass|scala|scss|sh|sql|sum|svelte|svg|swift|tf|toml|txt|vue|xml|ya?ml|zig|zsh)$/i;
const names = /^(?:(?:GNU)?[Mm]akefile|(?:Docker|Just|Vagrant|Rake|Gem|Proc)file|LICENSE|README|CHANGELOG|NOTICE)$/;
/** Programs whose names end like those of files. */
const programs = /^(?:Node|Next|Nuxt|Vue|React|Express|Three|Ember|Alpine|Backbone)\.js$/;

/**
 * Returns the file that a whole text names, judged by its form; null for any other text. `folder` is an absolute path,
 * or "".
 */
export function filePlace(text: string, folder: string): FilePlace | null {
  const found = text.length <= maxText ? shape.exec(text) : null;
  const path = found?.[1] && inFolder(found[1], folder);
  if (!found || !path || !namesFile(path)) {
    return null;
  }
  const line = Number(found[2] ?? found[4] ?? 0);
  return { path, line, end: Math.max(line, Number(found[3] ?? found[5] ?? 0)) };
}

/** Returns the path relative to the folder; "" if it is outside. */
function inFolder(path: string, folder: string): string {
  const base = folder.replace(/\/+$/, "");
  const inside = path.startsWith("/")
    ? base !== "" && path.startsWith(`${base}/`)
      ? path.slice(base.length + 1)
      : ""
    : path.replace(/^(?:\.\/)+/, "");
  return inside.split("/").some((name) => name === "" || name === "." || name === "..") ? "" : inside;
}

function namesFile(path: string): boolean {
  const slash = path.lastIndexOf("/");
  const name = path.slice(slash + 1);
  const dot = name.lastIndexOf(".");
  const ending = dot >= 0 ? name.slice(dot + 1) : "";
  if (names.test(name)) {
    return true;
  }
  return slash >= 0
    ? !path.startsWith("~") && /^[A-Za-z]\w{0,9}$/.test(ending)
    : dot > 0 && endings.test(ending) && !programs.test(name);
}

/** Matches a mention such as "client.go:42" that does not continue a name or an address. */
const mention = new RegExp(`(?<!${signs}|:)${signs}+:\\d{1,7}(?::\\d{1,7})?(?![\\p{L}\\p{N}_/])`, "gu");

/** Splits a text into text and mentioned files with lines, in order, with at most `most` files. */
export function mentionsIn(
  text: string,
  folder: string,
  most: number,
): (string | { text: string; place: FilePlace })[] {
  const parts: (string | { text: string; place: FilePlace })[] = [];
  let end = 0;
  let left = most;
  for (const found of text.matchAll(mention)) {
    const bracket = /^[([]*/.exec(found[0])?.[0].length ?? 0;
    const said = found[0].slice(bracket);
    const place = filePlace(said, folder);
    if (!place) {
      continue;
    }
    if (left-- === 0) {
      break;
    }
    const start = found.index + bracket;
    parts.push(text.slice(end, start), { text: said, place });
    end = start + said.length;
  }
  parts.push(text.slice(end));
  return parts.filter((part) => part !== "");
}
