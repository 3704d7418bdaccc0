// @vitest-environment node
import { pathTo } from "@scorel/protocol/tree";
import { describe, expect, it } from "vitest";
import { Random } from "../../../../test-support/random";
import type { SessionEntry } from "../../../api/types";
import { assistant, call, custom, result, user } from "../../../app/testing/builders";
import { BranchRows } from "./branch-rows";
import { buildRows } from "./rows";

const all = (entries: SessionEntry[], tip?: string) => buildRows(pathTo(entries, tip));

/** Returns a log as a host writes it: turns with calls, interrupted answers, and now and then another branch. */
function randomLog(random: Random, length: number): SessionEntry[] {
  const log: SessionEntry[] = [];
  const calls: string[] = [];
  const next = (): SessionEntry => {
    const id = `c${calls.length}`;
    const some = calls.length > 0 ? random.pick(calls.slice(-4)) : "lost";
    const kinds: (() => SessionEntry)[] = [
      () => user(`question ${log.length}`),
      () => {
        calls.push(id);
        return assistant([call(id, "bash", { command: "ls" })], { stopReason: "toolUse" });
      },
      () => assistant("broke off", { stopReason: random.pick(["aborted", "error", "stop"]) }),
      () => custom("scorel.turn", { stopReason: random.pick(["aborted", "error"]), error: "no model" }),
      () => custom("scorel.approval", { approvalId: "a", toolCallId: some, decision: "allow", decidedBy: "x" }),
      () => custom("scorel.process", { operationId: "o", toolCallId: some, processLogRef: "p", lines: [] }),
      () => custom("scorel.question", { toolCallId: some, outcome: "answered", answer: "a", answeredBy: "x" }),
      () => result(some, "bash", `out ${log.length}`),
      () => result("lost", "bash", "of a call that is nowhere"),
      () => custom("scorel.mode", { mode: "ask" }),
    ];
    return random.pick(kinds)();
  };
  while (log.length < length) {
    const branch = log.length > 5 && random.chance(3);
    const parentId = (branch ? random.pick(log) : log.at(-1))?.id ?? null;
    log.push({ ...next(), id: `e${log.length}`, parentId });
  }
  return log;
}

describe("BranchRows", () => {
  it("returns the same rows as a full build, in whichever order the entries arrive", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = new Random(seed);
      const log = randomLog(random, 80);
      let from = random.below(80);
      let to = from + 1;
      const rows = new BranchRows();
      while (from > 0 || to < log.length) {
        if (random.chance(50)) {
          from = Math.max(0, from - random.below(12));
        } else {
          to = Math.min(log.length, to + random.below(6));
        }
        const here = log.slice(from, to);
        expect(rows.update(here), `seed ${seed}, ${from} to ${to}`).toEqual(all(here));
      }
    }
  });

  it("keeps unchanged rows, and rebuilds them for another tip", () => {
    const log = [user("a"), assistant("b"), user("c"), assistant("d")].map((entry, i) => ({
      ...entry,
      id: `e${i}`,
      parentId: i === 0 ? null : `e${i - 1}`,
    }));
    const rows = new BranchRows();
    const [third] = rows.update(log.slice(2, 3));
    const more = rows.update(log.slice(2));
    expect(more[0]).toBe(third);
    expect(rows.update(log)[2]).toBe(third);
    expect(rows.update(log, "e1").map((row) => row.key)).toEqual(["e0", "e1"]);
  });
});
