// @vitest-environment node
import { expect, it } from "vitest";
import { joinFiles, MAX_TEXT_FILE, readTextFile, splitFiles } from "./text-files";

const file = (name: string, ...parts: BlobPart[]) => new File(parts, name);

it.each([
  ["look", []],
  ["", [{ name: "a.txt", text: "one\ntwo" }]],
  [
    "look",
    [
      { name: "a b.md", text: "```go\nx\n```\n\n\n" },
      { name: "empty", text: "" },
    ],
  ],
  ["look", [{ name: "tricky", text: "Attached file: x\n```\ny\n```" }]],
  ["look", [{ name: "crlf.csv", text: "a\r\nb\r" }]],
  ["", [{ name: "a.pdf", path: "/s/attached/0f/a.pdf", size: 2100000 }]],
  [
    "look",
    [
      { name: "a", text: "b" },
      { name: "c.zip", path: "/s/c d.zip", size: 1 },
      { name: "e", text: "" },
    ],
  ],
  ["say\n\nAttached file: nothing\n```\nopen", [{ name: "a", text: "`````" }]],
])("a prompt %j with files is split as it was joined", (text, files) => {
  expect(splitFiles(joinFiles(text, files))).toEqual({ text, files });
});

it("writes a file so that a model reads its name and its end", () => {
  expect(joinFiles("look", [{ name: "a.md", text: "```\nx\n```" }])).toBe(
    "look\n\nAttached file: a.md\n````\n```\nx\n```\n````",
  );
});

it("does not change a prompt that only looks like one", () => {
  const texts = ["Attached file: a\n```\nb\n``` and more", "see Attached file: a\n```\nb\n```", "Attached file: "];
  for (const text of texts) {
    expect(splitFiles(text)).toEqual({ text, files: [] });
  }
});

it("reads text, and nothing else", async () => {
  expect(await readTextFile(file("notes\n.txt", "one\ntwo\n"))).toEqual({ name: "notes .txt", text: "one\ntwo" });
  expect(await readTextFile(file("a.zip", new Uint8Array([80, 75, 0, 4])))).toBeNull();
  expect(await readTextFile(file("latin.txt", new Uint8Array([0xe9, 0x20])))).toBeNull();
  expect(await readTextFile(file("big.log", "x".repeat(MAX_TEXT_FILE + 1)))).toBeNull();
});

it("keeps every byte of a file with CRLF", async () => {
  const bytes = "\ufeffone\r\n\r\ntwo\r\n";
  const read = await readTextFile(file("win.txt", bytes));
  const [back] = splitFiles(joinFiles("look", read ? [read] : [])).files;
  expect(back && "text" in back && `${back.text}\n`).toBe(bytes);
});
