// @vitest-environment node
import { expect, it } from "vitest";
import type { SessionEntry } from "../../../api/types";
import { assistant, custom, user } from "../../../app/testing/builders";
import { branchMark, placesAmong, versionsAt } from "./versions";

const at = (entry: SessionEntry, id: string, parentId: string | null): SessionEntry => ({ ...entry, id, parentId });
const move = (id: string, parentId: string | null) => at(custom("scorel.leaf", { from: "x" }), id, parentId);

const versionsOf = (entries: SessionEntry[]) => versionsAt(placesAmong(entries));

const log = [
  at(user("Hello"), "u1", null),
  at(assistant("Hi"), "a1", "u1"),
  at(custom("scorel.mode", { mode: "ask" }), "m1", "a1"),
  at(user("First try"), "u2", "m1"),
  at(assistant("One"), "a2", "u2"),
  move("l1", "m1"),
  at(user("Second try"), "u3", "l1"),
  at(assistant("Two"), "a3", "u3"),
  at(user("And more"), "u4", "a3"),
  at(assistant("More"), "a4", "u4"),
];

it("finds the versions of a message, and where each of them ends", () => {
  expect(Object.fromEntries(versionsOf(log))).toEqual({
    u2: { first: "u2", at: 1, count: 2, previous: undefined, next: "a4" },
    u3: { first: "u2", at: 2, count: 2, previous: "a2", next: undefined },
  });
});

it("returns to the end of a branch after it was left", () => {
  const moved = [...log, move("l2", "a2"), move("l3", "a3"), at(user("Another way"), "u5", "l3")];
  const versions = versionsOf(moved);
  expect(versions.get("u3")?.previous).toBe("a2");
  expect(versions.get("u2")?.next).toBe("u5");
  expect(versions.get("u4")).toEqual({ first: "u4", at: 1, count: 2, previous: undefined, next: "u5" });
});

it("counts nothing in a session with one branch, and versions before the first message", () => {
  expect(versionsOf(log.slice(0, 5)).size).toBe(0);
  const restarted = [...log.slice(0, 2), move("l1", null), at(user("Hello again"), "u9", "l1")];
  expect(versionsOf(restarted).get("u9")).toEqual({ first: "u1", at: 2, count: 2, previous: "a1", next: undefined });
});

it("finds versions in a session of Pi, which moves without an entry", () => {
  const elsewhere = [...log.slice(0, 5), at(user("Second try"), "u3", "m1")];
  expect(versionsOf(elsewhere).get("u3")).toMatchObject({ at: 2, count: 2, previous: "a2" });
});

it("marks what changes the versions: a branch, and the first message on it", () => {
  const marks = log.map((_, i) => branchMark(log.slice(0, i + 1)));
  expect(marks).toEqual(["", "", "", "", "", "l1 ", "l1 u3", "l1 u3", "l1 u3", "l1 u3"]);
  expect(branchMark(log.slice(7))).toBe("");
});
