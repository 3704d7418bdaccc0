// @vitest-environment node
import { describe, expect, it } from "vitest";
import { compareTexts, compareWords } from "./compare";
import type { DiffFile } from "./model";
import { parseDiff } from "./parse";
import { type DiffRow, rowsOf, twinsOf } from "./rows";
import { segmentsOf } from "./segments";

const numbered = (n: number, change: (i: number) => string = String) =>
  Array.from({ length: n }, (_, i) => `${change(i + 1)}\n`).join("");

const show = (row: DiffRow) => {
  switch (row.kind) {
    case "line":
      return `${{ added: "+", removed: "-", same: " ", note: "\\" }[row.line.kind]}${row.line.text}`;
    case "pair":
      return `${row.left?.text ?? ""}|${row.right?.text ?? ""}`;
    case "fold":
      return `... ${row.count}`;
    case "gap":
      return `@@ ${row.count} ${row.heading}`;
  }
};
const rows = (file: DiffFile | undefined, split = false, open: string[] = []) =>
  rowsOf(file as DiffFile, { split, open: new Set(open) }).map(show);

describe("rowsOf", () => {
  const file = compareTexts(
    "x",
    numbered(30),
    numbered(30, (i) => (i === 15 ? "fifteen" : String(i))),
  );

  it("folds unchanged lines, and opens a fold", () => {
    expect(rows(file)).toEqual(["... 11", " 12", " 13", " 14", "-15", "+fifteen", " 16", " 17", " 18", "... 12"]);
    const fold = rowsOf(file, { split: false, open: new Set() })[0]?.key ?? "";
    expect(rows(file, false, [fold]).slice(0, 3)).toEqual([" 1", " 2", " 3"]);
  });

  it("puts both versions side by side", () => {
    expect(rows(file, true).slice(1, -1)).toEqual(["12|12", "13|13", "14|14", "15|fifteen", "16|16", "17|17", "18|18"]);
    const other = parseDiff(
      "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n-const max = 1\n-gone for good\n-let all = read(file)\n+new\n+const max = 2\n+let all = read(path)\n+end\n",
    ).files[0];
    expect(rows(other, true)).toEqual([
      "|new",
      "const max = 1|const max = 2",
      "gone for good|",
      "let all = read(file)|let all = read(path)",
      "|end",
    ]);
  });

  it("reports how much a diff omits", () => {
    const text = "--- a/x\n+++ b/x\n@@ -10,2 +10,2 @@ func a()\n x\n-a\n+b\n@@ -20,1 +20,1 @@\n-c\n+d\n";
    expect(rows(parseDiff(text).files[0])).toEqual(["@@ 9 func a()", " x", "-a", "+b", "@@ 8 ", "-c", "+d"]);
  });

  it("contains every line of both versions", () => {
    let seed = 3;
    const random = (n: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % n;
    };
    const text = () => numbered(random(12), () => `line ${random(5)} of ${random(3)}`);
    for (let round = 0; round < 200; round++) {
      const [before, after] = [text(), text()];
      const made = compareTexts("x", before, after);
      const all = rowsOf(made, { split: true, open: new Set() });
      if (all.some(({ kind }) => kind === "fold")) {
        continue;
      }
      const side = (name: "left" | "right") =>
        all.flatMap((row) => (row.kind === "pair" && row[name] ? [`${row[name].text}\n`] : [])).join("");
      expect([side("left"), side("right")]).toEqual([before, after]);
      const lines = rowsOf(made, { split: false, open: new Set() }).flatMap((row) =>
        row.kind === "line" ? row.line : [],
      );
      const version = (gone: string) => lines.filter(({ kind }) => kind !== gone).map(({ text: line }) => `${line}\n`);
      expect([version("added").join(""), version("removed").join("")]).toEqual([before, after]);
    }
  });
});

describe("compareTexts", () => {
  it("distinguishes added, removed and changed files", () => {
    expect(compareTexts("x", null, "a\nb").change).toBe("added");
    expect(compareTexts("x", "a\nb", null)).toMatchObject({ change: "removed", removed: 2, added: 0 });
    expect(compareTexts("x", "", "")).toMatchObject({ change: "changed", hunks: [] });
  });

  it("shows all of both texts if they have nothing in common", () => {
    const made = compareTexts(
      "x",
      numbered(5000, (i) => `a${i}`),
      numbered(5000, (i) => `b${i}`),
    );
    expect(made).toMatchObject({ added: 5000, removed: 5000 });
  });
});

describe("compareWords", () => {
  it("marks the words that changed", () => {
    const words = compareWords("const maxQueue = 4096", "const maxQueue = 1024");
    expect(words?.before.filter(({ changed }) => changed).map(({ text }) => text)).toEqual(["4096"]);
    expect(words?.after.filter(({ changed }) => changed).map(({ text }) => text)).toEqual(["1024"]);
    expect(words?.after.map(({ text }) => text).join("")).toBe("const maxQueue = 1024");
  });

  it.each([
    ["one two three", "four five six"],
    ["x".repeat(1000), "y"],
    ["", "a"],
  ])("compares nothing if the lines differ too much: %s", (before, after) => {
    expect(compareWords(before, after)).toBeNull();
  });
});

describe("twinsOf", () => {
  it("finds lines that are versions of each other", () => {
    const { lines } = compareTexts("x", "a := f(1)\nb := g(2)\n", "new line\nb := g(3)\n").hunks[0] ?? { lines: [] };
    const twins = [...twinsOf(lines)].map(([a, b]) => `${a.text} ~ ${b.text}`);
    expect(twins).toEqual(["b := g(2) ~ b := g(3)", "b := g(3) ~ b := g(2)"]);
  });
});

describe("segmentsOf", () => {
  it("splits where the color or the words change, and writes out invisible characters", () => {
    const tokens = [
      { text: "const ", className: "tok-keyword" },
      { text: "a\u202E = 1", className: undefined },
    ];
    const pieces = [
      { text: "const a\u202E", changed: false },
      { text: " = 1", changed: true },
    ];
    expect(segmentsOf("const a\u202E = 1", tokens, pieces)).toEqual([
      { text: "const ", className: "tok-keyword", changed: false },
      { text: "a<U+202E>", className: undefined, changed: false },
      { text: " = 1", className: undefined, changed: true },
    ]);
  });

  it("ignores colors and words of another text", () => {
    expect(segmentsOf("abc", [{ text: "x", className: "tok-x" }], [{ text: "ab", changed: true }])).toEqual([
      { text: "abc", className: undefined, changed: false },
    ]);
  });
});
