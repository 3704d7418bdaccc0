// @vitest-environment node
import { describe, expect, it } from "vitest";
import { ago, minutesAndSeconds } from "./time";

describe("minutesAndSeconds", () => {
  it.each([
    [600_000, "10:00"],
    [59_001, "1:00"],
    [59_000, "0:59"],
    [1, "0:01"],
    [0, "0:00"],
    [-5, "0:00"],
  ])("%d ms is %s", (ms, want) => {
    expect(minutesAndSeconds(ms)).toBe(want);
  });
});

describe("ago", () => {
  const now = 1_790_000_000_000;
  it.each([
    [0, "now"],
    [-5000, "now"],
    [59_000, "now"],
    [60_000, "1 min"],
    [3_599_000, "59 min"],
    [3_600_000, "1 h"],
    [86_400_000, "1 d"],
  ])("%d ms before is %s", (passed, want) => {
    expect(ago(now - passed, now)).toBe(want);
  });
});
