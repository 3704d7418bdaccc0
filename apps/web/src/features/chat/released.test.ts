import { expect, it } from "vitest";
import { releasedBy } from "./released";

it.each([
  [{ rules: ["bash(make)"] }, "by the rule bash(make)"],
  [{ rules: ["bash(a)", "bash(b)"] }, "by the rules bash(a), bash(b)"],
  [{ mode: "auto" }, "by the mode auto"],
  [{ rules: ["bash(a)"], mode: "accept-edits" }, "by the rule bash(a) and the mode accept-edits"],
  [{}, "because no rule asks about it any more"],
])("says what %j is", (release, words) => {
  expect(releasedBy(release)).toBe(words);
});
