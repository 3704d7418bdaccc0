// @vitest-environment node
import { expect, test } from "vitest";
import { reported, running, TIMELINE_LINES, type Timelines } from "./timelines";
import type { Process, ProcessLine } from "./types";

function at(sequence: number, message: string, repeats?: number, operationId = "op_1"): Process {
  const last = { operationId, sequence, message, level: "info", status: "running", detail: `d${sequence}` };
  return { startedAt: 1, processLogRef: "r", last: { ...last, ...(repeats ? { repeats } : {}) } as ProcessLine };
}

const all = (...processes: Process[]) =>
  processes.reduce<Timelines>((timelines, process) => reported(timelines, [process]), new Map());
const told = (timelines: Timelines, id = "op_1") =>
  timelines.get(id)?.map((line) => `${line.sequence} ${line.message}`);

test("keeps the newest lines with their details", () => {
  const many = all(...Array.from({ length: 80 }, (_, i) => at(i + 1, `step ${i + 1}`)));
  expect(many.get("op_1")).toHaveLength(TIMELINE_LINES);
  expect(many.get("op_1")?.[0]).toMatchObject({ sequence: 31, detail: "d31" });
  expect(many.get("op_1")?.at(-1)).toMatchObject({ sequence: 80, detail: "d80" });
});

test("a line that repeats another one replaces it, even across other lines", () => {
  expect(told(all(at(1, "a"), at(2, "b"), at(5, "a", 3), at(6, "b", 2), at(9, "a")))).toEqual(["5 a", "6 b", "9 a"]);
});

test("a known line changes nothing, and ended operations are dropped", () => {
  const once = all(at(3, "a"), at(1, "x", 0, "op_2"));
  expect(reported(once, [at(3, "a"), at(2, "late")])).toBe(once);
  expect(running(once, [at(3, "a"), at(1, "x", 0, "op_2")])).toBe(once);
  expect([...running(once, [at(3, "a")]).keys()]).toEqual(["op_1"]);
});
