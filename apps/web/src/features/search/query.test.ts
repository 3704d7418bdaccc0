// @vitest-environment node
import { describe, expect, it } from "vitest";
import { isSearch, whileTyping } from "./query";

describe("a search during typing", () => {
  it.each([
    ["migr", "migr*"],
    ["two wor", "two wor*"],
    ["one w", "one w"],
    ['"a phrase', '"a phrase'],
    ['"a phrase"', '"a phrase"'],
    ['"a phrase" and', '"a phrase" and*'],
    ["done*", "done*"],
    ["ends ", "ends*"],
    ["", ""],
  ])("%j searches for %j", (text, query) => expect(whileTyping(text)).toBe(query));

  it.each([
    ["", false],
    ["a", false],
    ["- ?", false],
    ["ab", true],
    ["京", true],
    ["7 4", true],
  ])("%j is long enough to search: %j", (text, worth) => expect(isSearch(text)).toBe(worth));
});
