import { describe, expect, it, vi } from "vitest";
import { tokenize, tokenizerFor } from "./highlight";
import { createHighlighting } from "./use-highlighted";

describe("tokenize", () => {
  it("names tokens by class and loses no text", async () => {
    const code = 'package main\n\nfunc main() { println("<b>") }';
    const lines = await tokenize(code, "golang");
    expect(lines?.map((line) => line.map((token) => token.text).join("")).join("\n")).toBe(code);
    const classes = new Set(lines?.flat().map((token) => token.className));
    expect(classes).toContain("tok-keyword");
    for (const name of classes) {
      expect(name ?? "tok-").toMatch(/^tok-[a-z-]*$/);
    }
  });

  it("goes on where another piece ended", async () => {
    const tokenizer = await tokenizerFor("go");
    const begun = tokenizer?.("/* a comment");
    expect(tokenizer?.("that ends */ x", begun?.end).lines[0]?.[0]).toEqual({
      text: "that ends */",
      className: "tok-comment",
    });
    expect(tokenizer?.("that ends */ x").lines[0]?.[0]?.className).not.toBe("tok-comment");
    expect(tokenizer?.("x", tokenizer("// a line").end).lines[0]?.[0]?.className).not.toBe("tok-comment");
  });

  it.each(["", "klingon", "constructor", "__proto__"])("leaves the language %j alone", async (language) => {
    expect(await tokenize("x", language)).toBeNull();
  });
});

describe("createHighlighting", () => {
  it("fetches the engine once, at the first code, and remembers what it colored", async () => {
    const load = vi.fn(async () => ({ tokenize, tokenizerFor }));
    const highlighting = createHighlighting(load);
    expect(await highlighting.highlight("x", "")).toBeNull();
    expect(await highlighting.highlight("x".repeat(100_000), "go")).toBeNull();
    expect(load).not.toHaveBeenCalled();
    const lines = await highlighting.highlight("{}", "json");
    await highlighting.highlight("[]", "json");
    expect(load).toHaveBeenCalledOnce();
    expect(highlighting.known("{}", "json")).toBe(lines);
    expect(highlighting.known("{}", "go")).toBeNull();
  });
});
