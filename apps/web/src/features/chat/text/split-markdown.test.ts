// @vitest-environment node
import { describe, expect, it } from "vitest";
import { codeOf, GrowingSplitter, splitMarkdown } from "./split-markdown";

const texts = [
  "",
  "one line",
  "a\n\nb\n\nc\n",
  "# h\n\n1. one\n\n   more of one\n\n2. two\n\nafter\n",
  "```\na\n\nb\n```\n\nafter\n",
  "~~~~md\n```\n\nx\n```\n\n~~~~\nend\n",
  "- a\n\n  ```js\n  x\n\n  y\n  ```\n\n- b\n\nend\n\n",
  "> q\n\n> r\n\n| a |\n|---|\n| 1 |\n\n**b** c\n\n* d\n",
  "    indented\n\n    code\n\ntext\n\n\n\ntext\n",
];

describe("splitMarkdown", () => {
  it.each(texts)("loses nothing of %j", (text) => {
    expect(splitMarkdown(text).join("")).toBe(text);
  });

  it.each(texts)("never reverts a cut of %j", (text) => {
    let before: string[] = [];
    for (let n = 0; n <= text.length; n++) {
      const pieces = splitMarkdown(text.slice(0, n));
      expect(pieces.slice(0, Math.max(0, before.length - 1))).toEqual(before.slice(0, -1));
      before = pieces;
    }
  });

  it.each(texts)("cuts %j the same way as it grows", (text) => {
    const splitter = new GrowingSplitter();
    for (let n = 0; n <= text.length; n++) {
      expect(splitter.split(text.slice(0, n))).toEqual(splitMarkdown(text.slice(0, n)));
    }
    expect(splitter.split("another")).toEqual(["another"]);
  });

  it("cuts between paragraphs and before code", () => {
    expect(splitMarkdown("a\n\nb\n\n```\nc\n\nd\n```\n\ne\n")).toEqual([
      "a\n\n",
      "b\n\n",
      "```\nc\n\nd\n```\n\n",
      "e\n",
    ]);
  });

  it("keeps a list, a quote and open code in one piece", () => {
    expect(splitMarkdown("- a\n\n- b\n\n  c\n")).toHaveLength(1);
    expect(splitMarkdown("> a\n\n> b\n")).toHaveLength(1);
    expect(splitMarkdown("```\na\n\nb\n\nc")).toHaveLength(1);
  });
});

describe("codeOf", () => {
  it.each([
    ["```go\nx := 1\n\ny\n```\n\n", { code: "x := 1\n\ny", language: "go" }],
    ["```\na", { code: "a", language: "" }],
    ["~~~~md\n```\nx\n", { code: "```\nx", language: "md" }],
    ["```\na\n  `````  \n", { code: "a", language: "" }],
    ["```\na\n``", { code: "a\n``", language: "" }],
    ["```\n```\n", { code: "", language: "" }],
  ])("recognizes the code of %j", (piece, code) => {
    expect(codeOf(piece)).toEqual(code);
  });

  it.each(["", "```go", "text\n```\na\n", "```\na\n```\nafter\n", "```go title\na\n", " ```\na\n", "```\na\r\n```\n"])(
    "leaves %j to the Markdown parser",
    (piece) => {
      expect(codeOf(piece)).toBeNull();
    },
  );
});
