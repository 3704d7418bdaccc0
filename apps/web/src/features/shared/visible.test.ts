// @vitest-environment node
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { visible } from "./visible";

// The host and the terminal client read the same examples.
const path = new URL("../../../../../packages/protocol/visible/testdata/texts.json", import.meta.url);
const cases = JSON.parse(readFileSync(path, "utf8")) as { text: string; shown: string }[];

test.each(cases)("$shown", ({ text, shown }) => {
  expect(visible(text)).toBe(shown);
});
