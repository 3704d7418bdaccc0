// @vitest-environment node
import { expect, it } from "vitest";
import { quoteOf } from "./quote";

it("quotes a line with its position", () => {
  expect(quoteOf({ path: "client.go", side: "new", line: 42, text: "return nil\r" }, "Why?")).toBe(
    "`client.go:42`\n```\nreturn nil\n```\nWhy?",
  );
});

it("fences a line that has a fence", () => {
  expect(quoteOf({ path: "a.md", side: "old", line: 1, text: "````go" }, "x")).toContain("\n`````\n````go\n`````\n");
});
