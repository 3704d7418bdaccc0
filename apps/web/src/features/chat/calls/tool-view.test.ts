// @vitest-environment node
import { describe, expect, it } from "vitest";
import { languageOf } from "../../code/language";
import { partialArguments, viewTool } from "./tool-view";

describe("viewTool", () => {
  it("puts a multi-line command into the body", () => {
    const view = viewTool("bash", { command: "cd x\nmake", timeout: 5 });
    expect(view.subject).toBe("cd x …");
    expect(view.body).toEqual({ text: "cd x\nmake", language: "bash" });
    expect(view.rest).toEqual([["timeout", "5"]]);
  });

  it("derives the language of written text from the file name", () => {
    expect(viewTool("write_file", { path: "a/b.go", content: "package b" }).body?.language).toBe("go");
    expect(["x/Dockerfile", "Makefile", "a.b.ts", "README", ".env"].map(languageOf)).toEqual([
      "dockerfile",
      "makefile",
      "ts",
      "",
      "env",
    ]);
  });

  it("treats the name of an inherited property as an unknown tool", () => {
    expect(viewTool("constructor", {}).verb).toBe("constructor");
  });
});

describe("partialArguments", () => {
  const json = JSON.stringify({ path: 'a\\b\n"c".txt', content: "tab\there", n: 1 });

  it("reads complete JSON", () => {
    expect(partialArguments(json)).toEqual(JSON.parse(json));
  });

  it("reads the complete strings of every prefix, and no wrong ones", () => {
    const whole = JSON.parse(json) as Record<string, unknown>;
    for (let n = 0; n < json.length; n++) {
      const fields = partialArguments(json.slice(0, n)) as Record<string, unknown>;
      for (const [key, value] of Object.entries(fields)) {
        expect(value).toBe(whole[key]);
      }
    }
    expect(partialArguments('{"path":"x","content":"ab')).toEqual({ path: "x" });
  });
});
