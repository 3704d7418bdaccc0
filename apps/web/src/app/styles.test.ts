import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("./styles.css", `file://${import.meta.dirname}/`), "utf8");

/** The colours of the first or second `:root` block: light, dark. */
function palette(index: number): Map<string, string> {
  const block = [...css.matchAll(/:root \{([^}]*)\}/g)][index]?.[1] ?? "";
  return new Map(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name ?? "", value ?? ""]),
  );
}

/** WCAG 2 contrast of two colours like "#0a6a4d". */
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
const pairs: [text: string, grounds: string[], least: number][] = [
  ["c-ink", [...plain, "c-warn-soft", "c-danger-soft", "c-accent-soft"], 4.5],
  ["c-muted", [...plain, "c-warn-soft", "c-danger-soft"], 4.5],
  ["c-faint", plain, 4.5],
  ["c-accent", [...plain, "c-accent-soft"], 4.5],
  ["c-warn", [...plain, "c-warn-soft"], 4.5],
  ["c-danger", [...plain, "c-danger-soft"], 4.5],
  ["c-on-accent", ["c-accent", "c-accent-hover"], 4.5],
  ["c-line-strong", ["c-bg", "c-surface"], 3],
  ...["keyword", "string", "function", "constant", "comment", "parameter", "punctuation", "link"].map(
    (name): [string, string[], number] => [`tok-${name}`, ["c-sunken", "c-surface"], 4.5],
  ),
];

describe.each([
  ["light", 0],
  ["dark", 1],
])("the %s palette", (_, index) => {
  const colours = palette(index);
  it.each(pairs)("%s can be read", (text, grounds, least) => {
    for (const ground of grounds) {
      const value = contrast(colours.get(text) ?? "", colours.get(ground) ?? "");
      expect(value, `${text} on ${ground}`).toBeGreaterThanOrEqual(least);
    }
  });
});
