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
  ["say\n\nAttached file: nothing\n```\nopen", [{ name: "a", text: "`````" }]],
])("a prompt %j with files is split as it was joined", (text, files) => {
  expect(splitFiles(joinFiles(text, files))).toEqual({ text, files });
});

it("writes a file so that a model reads its name and where it ends", () => {
  expect(joinFiles("look", [{ name: "a.md", text: "```\nx\n```" }])).toBe(
    "look\n\nAttached file: a.md\n````\n```\nx\n```\n````",
  );
});

it("leaves a prompt alone that only looks like one", () => {
  const texts = ["Attached file: a\n```\nb\n``` and more", "see Attached file: a\n```\nb\n```", "Attached file: "];
  for (const text of texts) {
    expect(splitFiles(text)).toEqual({ text, files: [] });
  }
});

it("reads text, and says of anything else what it is", async () => {
  expect(await readTextFile(file("notes\n.txt", "one\r\ntwo\n"))).toEqual({ name: "notes .txt", text: "one\ntwo" });
  await expect(readTextFile(file("a.zip", new Uint8Array([80, 75, 0, 4])))).rejects.toThrow("a.zip is neither");
  await expect(readTextFile(file("latin.txt", new Uint8Array([0xe9, 0x20])))).rejects.toThrow("latin.txt is neither");
  await expect(readTextFile(file("big.log", "x".repeat(MAX_TEXT_FILE + 1)))).rejects.toThrow("big.log is larger");
});
