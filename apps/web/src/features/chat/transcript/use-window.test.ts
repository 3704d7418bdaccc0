// @vitest-environment node
import { describe, expect, it } from "vitest";
import { firstShown } from "./use-window";

const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ({ key: `k${from + i}` }));

describe("firstShown", () => {
  it("stays at its row when the list grows at either end", () => {
    const mark = { key: "k300", left: 200 };
    expect(firstShown(keys(200, 500), mark)).toBe(100);
    expect(firstShown(keys(0, 500), mark)).toBe(300);
    expect(firstShown(keys(0, 600), mark)).toBe(300);
  });

  it("shows as many rows as before when its row is gone, and all if there was none", () => {
    expect(firstShown(keys(1000, 1500), { key: "k300", left: 200 })).toBe(300);
    expect(firstShown(keys(1000, 1010), { key: "k300", left: 200 })).toBe(0);
    expect(firstShown(keys(0, 500), { key: undefined, left: 0 })).toBe(0);
  });
});
