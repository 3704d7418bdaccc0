// @vitest-environment node
import { describe, expect, it } from "vitest";
import { modified, safeLink, safeTitle, sequenceOf } from "./keys";

const off = { ctrl: false, alt: false };

it("a phone's keys send the same as those of a keyboard", () => {
  expect(sequenceOf("up", false)).toBe("\x1b[A");
  expect(sequenceOf("left", true)).toBe("\x1bOD");
  expect(sequenceOf("tab", false)).toBe("\t");
  expect(modified("c", { ...off, ctrl: true })).toBe("\x03");
  expect(modified("[", { ...off, ctrl: true })).toBe("\x1b");
  expect(modified(" ", { ...off, ctrl: true })).toBe("\0");
  expect(modified("ä", { ...off, ctrl: true })).toBe("ä");
  expect(modified("b", { ...off, alt: true })).toBe("\x1bb");
  expect(modified("pasted", off)).toBe("pasted");
});

describe("titles and links of programs", () => {
  it("a title cannot change how the page reads", () => {
    expect(safeTitle("vim\u202egpj.exe\x1b]0;x\x07\u2028")).toBe("vimgpj.exe]0;x");
    expect(safeTitle("a".repeat(500))).toHaveLength(60);
    expect(safeTitle("🙂".repeat(61))).toBe("🙂".repeat(60));
  });

  it("a link is one of the web, or none", () => {
    expect(safeLink("https://example.com/a?b#c")).toBe("https://example.com/a?b#c");
    for (const text of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ssh://x", "x", ""]) {
      expect(safeLink(text)).toBeNull();
    }
  });
});
