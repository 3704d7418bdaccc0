// @vitest-environment node
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const src = join(import.meta.dirname, "..");

/** Code that formats dates and numbers by hand, or in the browser's language instead of the page's. */
const wrong: readonly RegExp[] = [
  /\.toLocale(Date|Time)?String\((?!locale\(\))/g,
  /new Intl\.\w+\((?!locale\(\)|spoken\.locale|name\))/g,
  /\.toFixed\(|\.toPrecision\(/g,
  // Allowed only to compare two days.
  /(?<!=== new Date\(\w+\))\.toDateString\(\)(?! ===)|\.toTimeString\(|\.toUTCString\(/g,
  /\.get(UTC)?(Hours|Minutes|Month|Date|FullYear|Day)\(/g,
];

function faultsOf(code: string): string[] {
  return wrong.flatMap((pattern) => code.match(pattern) ?? []);
}

describe("dates and numbers", () => {
  it("are formatted in the language of the page", () => {
    const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
      (name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|(^|\/)testing\//.test(name),
    );
    expect(files.length).toBeGreaterThan(100);
    const found = files.flatMap((name) => {
      return faultsOf(readFileSync(join(src, name), "utf8")).map((fault) => `${name}: ${fault}`);
    });
    expect(found).toEqual([]);
  });

  it.each([
    "new Date(then).toLocaleString()",
    "count.toLocaleString(undefined, { style })",
    "new Date(then).toLocaleTimeString([], { hour })",
    "new Intl.NumberFormat().format(n)",
    'new Intl.DateTimeFormat("en")',
    "(ms / 1000).toFixed(1)",
    "date.getHours() + date.getMinutes()",
    "new Date(then).toDateString()",
  ])("are found in %s", (code) => {
    expect(faultsOf(code)).not.toEqual([]);
  });

  it.each([
    "new Date(then).toLocaleString(locale(), { hour })",
    "new Intl.NumberFormat(locale()).format(n)",
    "new Date(then).toISOString()",
    "new Date(then).toDateString() === new Date(now).toDateString()",
  ])("are accepted in %s", (code) => {
    expect(faultsOf(code)).toEqual([]);
  });
});
