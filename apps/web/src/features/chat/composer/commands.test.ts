// @vitest-environment node
import { expect, it } from "vitest";
import { compactFocus } from "./commands";

it.each([
  ["/compact", ""],
  ["  /compact  the tests\nand more ", "the tests\nand more"],
  ["/compactor", null],
  ["say /compact", null],
  ["/deploy prod", null],
])("%j requests a compaction with %j", (text, focus) => {
  expect(compactFocus(text)).toBe(focus);
});
