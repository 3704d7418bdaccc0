// @vitest-environment node
import { expect, it } from "vitest";
import { terminalText } from "./terminal-text";

it.each([
  ["\u001B[1;31mFAIL\u001B[0m x", "FAIL x"],
  ["\u001B]0;title\u0007text", "text"],
  ["\u001B]8;;https://example.org\u001B\\link", "link"],
  ["\u001B[2J\u001B[Hhome", "home"],
  ["10 %\r50 %\r100 %\ndone\r\n", "100 %\ndone\n"],
  ["a\u202Eb", "a<U+202E>b"],
  ["\u001B[", ""],
  ["\u001B]0;never ended\nthe next line", "\nthe next line"],
  ["tab\tand\nline", "tab\tand\nline"],
])("reads %j as %j", (text, read) => {
  expect(terminalText(text)).toBe(read);
});
