import { expect, test } from "vitest";
import golden from "../../session/testdata/dates.json";
import { dateOf } from "../src/date.ts";

test.each(golden as [string, number | null][])("%s", (text, want) => {
  expect(dateOf(text)).toBe(want ?? Number.NaN);
});

test("timestamps that are not strings are unknown dates", () => {
  for (const value of [null, true, 1767323045000, undefined, {}]) {
    expect(dateOf(value)).toBe(Number.NaN);
  }
});
