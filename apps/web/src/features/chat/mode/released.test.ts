// @vitest-environment node
import { expect, it } from "vitest";
import { releasedBy } from "./released";

it.each([
  [{ rules: ["bash(make)"] }, "by the rule bash(make)"],
  [{ rules: ["bash(a)", "bash(b)"] }, "by the rules bash(a), bash(b)"],
  [{ mode: "auto" }, "by the permission mode “Auto”"],
  [{ rules: ["bash(a)"], mode: "accept-edits" }, "by the rule bash(a) and the permission mode “Auto-accept edits”"],
  [{}, "because no rule asks about it anymore"],
])("names the reason of %j", (release, words) => {
  expect(releasedBy(release)).toBe(words);
});
