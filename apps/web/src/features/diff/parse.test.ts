// @vitest-environment node
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { DiffFile } from "./model";
import { parseDiff } from "./parse";
import { isPatch, parsePatch } from "./v4a";

// What editors are sent is read from the same examples.
const path = new URL("../../../../cli/internal/editors/testdata/diffs.json", import.meta.url);
const examples = JSON.parse(readFileSync(path, "utf8")) as {
  name: string;
  diff: string;
  files: { path: string; before: string; after: string }[];
}[];

const shown = (files: DiffFile[]) =>
  files.map(({ path, from, change, added, removed, hunks, notes }) => ({
    ...{ path, change, counts: `+${added} -${removed}`, hunks: hunks.length },
    ...(from === null ? {} : { from }),
    ...(notes.length > 0 ? { notes } : {}),
  }));

describe("parseDiff", () => {
  it("numbers the lines of both versions", () => {
    const text =
      "--- a/x.go\n+++ b/x.go\n@@ -8,3 +9,3 @@ func main() {\n a\n-b\n+c\n d\n\\ No newline at end of file\n";
    const [file] = parseDiff(text).files;
    expect(file).toMatchObject({ path: "x.go", from: null, change: "changed", added: 1, removed: 1 });
    expect(file?.hunks[0]?.heading).toBe("func main() {");
    expect(file?.hunks[0]?.lines).toEqual([
      { kind: "same", text: "a", old: 8, new: 9 },
      { kind: "removed", text: "b", old: 9, new: 0 },
      { kind: "added", text: "c", old: 0, new: 10 },
      { kind: "same", text: "d", old: 10, new: 11 },
      { kind: "note", text: "No newline at end of file", old: 0, new: 0 },
    ]);
  });

  it("distinguishes new, removed, renamed and binary files", () => {
    const text = [
      ...[
        "diff --git a/new.txt b/new.txt",
        "new file mode 100644",
        "index 0000000..1",
        "--- /dev/null",
        "+++ b/new.txt",
      ],
      ...["@@ -0,0 +1 @@", "+x"],
      ...[
        "diff --git a/old.txt b/old.txt",
        "deleted file mode 100644",
        "--- a/old.txt",
        "+++ /dev/null",
        "@@ -1 +0,0 @@",
      ],
      "-x",
      ...["diff --git a/a b.txt b/c d.txt", "similarity index 100%", "rename from a b.txt", "rename to c d.txt"],
      ...["diff --git a/i.png b/i.png", "index 1..2 100644", "Binary files a/i.png and b/i.png differ"],
      ...["diff --git a/run.sh b/run.sh", "old mode 100644", "new mode 100755"],
      ...["--- /dev/null", "+++ b/empty"],
    ].join("\n");
    expect(shown(parseDiff(text).files)).toEqual([
      { path: "new.txt", change: "added", counts: "+1 -0", hunks: 1 },
      { path: "old.txt", change: "removed", counts: "+0 -1", hunks: 1 },
      { path: "c d.txt", from: "a b.txt", change: "renamed", counts: "+0 -0", hunks: 0 },
      {
        ...{ path: "i.png", change: "changed", counts: "+0 -0", hunks: 0 },
        notes: ["Binary files a/i.png and b/i.png differ"],
      },
      { path: "empty", change: "added", counts: "+0 -0", hunks: 0, notes: ["old mode 100644", "new mode 100755"] },
    ]);
  });

  it("treats lines that look like headings as lines if the hunk has them", () => {
    const text = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- a comment\n-x\n+++ y\n+z\n";
    const [file] = parseDiff(text).files;
    expect(file?.hunks[0]?.lines.map(({ kind, text: line }) => `${kind} ${line}`)).toEqual([
      "removed -- a comment",
      "removed x",
      "added ++ y",
      "added z",
    ]);
  });

  it.each(examples)("reads $name", ({ diff, files }) => {
    const side = (file: DiffFile, kind: string) =>
      file.hunks
        .flatMap(({ lines }) => lines.filter((line) => line.kind === "same" || line.kind === kind))
        .map(({ text }) => `${text}\n`)
        .join("");
    expect(
      parseDiff(diff).files.map((file) => ({
        path: file.path,
        before: side(file, "removed"),
        after: side(file, "added"),
      })),
    ).toEqual(files);
  });

  it("reads quoted names", () => {
    const [file] = parseDiff('--- "a/caf\\303\\251 \\"1\\".txt"\n+++ "b/caf\\303\\251 \\"1\\".txt"\n').files;
    expect(file?.path).toBe('café "1".txt');
  });

  it.each(["", "\n", "+++ b/x", "@@ -1 +1 @@", "no diff at all", "diff --git ", "@@ -x +y @@\n+a"])(
    "accepts %j",
    (text) => {
      expect(() => parseDiff(text)).not.toThrow();
    },
  );

  it("parses lines without a heading", () => {
    const [file] = parseDiff("+a\n-b\nstray").files;
    expect(file?.hunks[0]?.lines.map(({ kind, old, new: now }) => `${kind} ${old} ${now}`)).toEqual([
      "added 0 0",
      "removed 0 0",
      "note 0 0",
    ]);
  });

  it("loses no line, however wrong the hunk headers are", () => {
    let seed = 7;
    const random = (n: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % n;
    };
    const makes = [
      () => `+added ${random(99)}`,
      () => `-removed ${random(99)}`,
      () => ` same ${random(99)}`,
      () => `@@ -${random(9)},${random(4)} +${random(9)},${random(4)} @@`,
      () => "--- a/x",
      () => "+++ b/x",
      () => `stray ${random(99)}`,
      () => "",
    ];
    for (let round = 0; round < 300; round++) {
      const lines = Array.from({ length: 2 + random(20) }, () => makes[random(makes.length)]?.() ?? "");
      const { files } = parseDiff(lines.join("\n"));
      const all = files.flatMap(({ notes, hunks }) => [
        ...notes,
        ...hunks.flatMap((hunk) => hunk.lines.map(({ text }) => text)),
      ]);
      for (const line of lines.filter((each) => /added|removed|same|stray/.test(each))) {
        const found = all.findIndex((text) => text === line || text === line.slice(1));
        expect(found, `${line} in\n${lines.join("\n")}`).toBeGreaterThanOrEqual(0);
        all.splice(found, 1);
      }
    }
  });

  it("parses a part of a long one, and reports how much is left", () => {
    const text = `--- a/x\n+++ b/x\n@@ -0,0 +1,100 @@\n${"+x\n".repeat(100)}`;
    const { files, unread } = parseDiff(text, 53);
    expect([files[0]?.added, unread]).toEqual([50, 50]);
  });
});

describe("parsePatch", () => {
  it("parses the patches that models write", () => {
    const text = [
      "*** Begin Patch",
      ...["*** Update File: a.go", "@@ func main() {", " a", "-b", "+c", "*** Add File: new.txt", "+one", "+two"],
      ...["*** Delete File: old.txt", "*** Move File: x.txt -> y.txt", "*** Update File: m.txt", "*** Move to: n.txt"],
      ...["-p", "+q", "*** End Patch", ""],
    ].join("\n");
    expect(isPatch(text)).toBe(true);
    const { files } = parsePatch(text);
    expect(shown(files)).toEqual([
      { path: "a.go", change: "changed", counts: "+1 -1", hunks: 1 },
      { path: "new.txt", change: "added", counts: "+2 -0", hunks: 1 },
      { path: "old.txt", change: "removed", counts: "+0 -0", hunks: 0 },
      { path: "y.txt", from: "x.txt", change: "renamed", counts: "+0 -0", hunks: 0 },
      { path: "n.txt", from: "m.txt", change: "renamed", counts: "+1 -1", hunks: 1 },
    ]);
    expect(files[0]?.hunks[0]?.heading).toBe("func main() {");
  });
});
