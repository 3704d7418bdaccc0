// @vitest-environment node
import { describe, expect, it } from "vitest";
import { rate } from "./match";

describe("rate", () => {
  it("requires every word, in the title or in the further words", () => {
    expect(rate("bound queue", "Bound the relay's queues")).toBeGreaterThan(0);
    expect(rate("bound lamp", "Bound the relay's queues", "lamps · workshop")).toBeGreaterThan(0);
    expect(rate("bound cellar", "Bound the relay's queues", "lamps · workshop")).toBe(0);
    expect(rate("", "Bound the relay's queues")).toBe(0);
  });

  it("ignores case and accents, and supports other scripts", () => {
    expect(rate("CAFE", "Le café")).toBeGreaterThan(0);
    expect(rate("文档", "翻译中文文档")).toBeGreaterThan(0);
  });

  it.each([
    ["the beginning before a word within", "set", "Settings", "Reset the lamp"],
    ["the beginning of a word before the middle of one", "set", "Open the settings", "Reset the lamp"],
    ["the title before what else finds it", "dark", "Dark theme", "Appearance"],
    ["initials before what else finds it", "ns", "New session", "Settings"],
    ["the words as they stand", "the relay", "Bound the relay", "Relay: bound the queues"],
  ])("prefers %s", (_, query, better, worse) => {
    expect(rate(query, better, "x dark ns")).toBeGreaterThan(rate(query, worse, "x dark ns"));
  });
});
