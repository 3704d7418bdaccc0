// @vitest-environment node
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("./styles.css", `file://${import.meta.dirname}/`), "utf8");

/** Returns the colors of the first theme (light) or the second one (dark). */
function palette(index: number): Map<string, string> {
  const all = css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g);
  return new Map([...all].map((found) => [found[1] ?? "", found[2 + index] ?? ""]));
}

/** Returns the WCAG 2 contrast of two colors like "#0a6a4d". */
function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const plain = ["c-bg", "c-surface", "c-sunken"];
const changes = ["c-added", "c-added-word", "c-removed", "c-removed-word"];
const pairs: [text: string, grounds: string[], least: number][] = [
  ["c-ink", [...plain, ...changes, "c-warn-soft", "c-danger-soft", "c-accent-soft"], 4.5],
  ["c-muted", [...plain, "c-warn-soft", "c-danger-soft"], 4.5],
  ["c-faint", [...plain, "c-added", "c-removed"], 4.5],
  ["c-accent", [...plain, "c-accent-soft", "c-added"], 4.5],
  ["c-warn", [...plain, "c-warn-soft"], 4.5],
  ["c-danger", [...plain, "c-danger-soft", "c-removed"], 4.5],
  ["c-on-accent", ["c-accent", "c-accent-hover"], 4.5],
  ["c-line-strong", ["c-bg", "c-surface"], 3],
  ...["keyword", "string", "function", "constant", "comment", "parameter", "punctuation", "link"].map(
    (name): [string, string[], number] => [`tok-${name}`, ["c-sunken", "c-surface", ...changes], 4.5],
  ),
];

it("each color has a light and a dark value", () => {
  expect([...css.matchAll(/^ {2}--(?:c|tok)-[\w-]+:(?! light-dark\(|\n)/gm)]).toEqual([]);
});

describe.each([
  ["light", 0],
  ["dark", 1],
])("the %s palette", (_, index) => {
  const colors = palette(index);
  it.each(pairs)("%s is readable", (text, grounds, least) => {
    for (const ground of grounds) {
      const value = contrast(colors.get(text) ?? "", colors.get(ground) ?? "");
      expect(value, `${text} on ${ground}`).toBeGreaterThanOrEqual(least);
    }
  });
});
