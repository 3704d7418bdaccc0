// @vitest-environment node
import { describe, expect, it } from "vitest";
import type { AssistantMessage, MessageEntry, ToolResultMessage } from "../../../api/types";
import { assistant, call, result } from "../../../app/testing/builders";
import { changeOf, factsOfChange, remarkOf } from "./changes";
import { countReads, readRuns } from "./reads";
import { LatestTodos, progressOf, todosIn } from "./todos";
import { nothing, type ToolFacts } from "./tool-facts";

const told = (name: string, text: string, details?: unknown, isError = false) =>
  result("c1", name, text, isError, details).message as ToolResultMessage;
const diff = "--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,1 @@\n-a\n-b\n+c\n";

describe("changeOf", () => {
  it("uses the host's diff, and the call's arguments before that", () => {
    const args = { path: "x.go", old_string: "a", new_string: "b" };
    expect(changeOf("patch", args, told("patch", "", { diff }))).toEqual({ diff });
    expect(changeOf("patch", args, null)).toEqual({ path: "x.go", before: "a", after: "b", part: true });
    expect(changeOf("edit", { path: "x", oldText: "a", newText: "" }, null)).toMatchObject({ before: "a", after: "" });
    const patch = "*** Begin Patch\n*** Delete File: x\n*** End Patch";
    expect(changeOf("patch", { patch }, told("patch", "no", {}, true))).toEqual({ diff: patch });
  });

  it.each<[string, unknown, object | null]>([
    ["patch", { path: "x", old_string: "a" }, null],
    ["patch", null, { diff: 7 }],
    ["write_file", { path: "x", content: "a" }, { created: false }],
    ["bash", { command: "ls" }, null],
  ])("finds no change in %s with %j and %j", (name, args, details) => {
    expect(changeOf(name, args, details && told(name, "", details))).toBeNull();
  });

  it("counts the lines of a change", () => {
    expect(factsOfChange({ diff })).toEqual({ paths: ["x.go"], counts: { added: 1, removed: 2 } });
    const created = changeOf("write_file", { path: "n", content: "a\nb\n" }, told("write_file", "", { created: true }));
    expect(factsOfChange(created)).toEqual({ paths: ["n"], counts: { added: 2, removed: 0 } });
    expect(factsOfChange({ diff: `${diff}${" same\n".repeat(100_000)}` })).toEqual({ paths: [], counts: null });
  });

  it("returns the part of a result that the diff does not show", () => {
    expect(remarkOf(told("patch", "", { diff }), `Changed 1 (exact).\n${diff}`)).toBe("");
    expect(remarkOf(told("patch", "", { diff, approximate: true }), `Only similar.\n${diff}`)).toBe("Only similar.");
    expect(remarkOf(told("bash", "", {}), "ok")).toBe("ok");
  });
});

describe("todos", () => {
  const list = (...states: string[]) => ({ todos: states.map((status, i) => ({ id: `${i}`, content: "x", status })) });

  it("counts ended tasks, without canceled ones", () => {
    const todos = todosIn(told("todo", "", list("completed", "in_progress", "pending", "cancelled"))) ?? [];
    expect(progressOf(todos)).toMatchObject({ done: 1, total: 3, current: { id: "1" } });
    expect(todosIn(told("todo", "", { todos: "none" }))).toBeNull();
    expect(todosIn(told("bash", "", list("pending")))).toBeNull();
  });

  it("finds the latest list, in a log that grows and in another one", () => {
    const latest = new LatestTodos();
    const entry = (...states: string[]) => result("c", "todo", "", false, list(...states));
    const log = [entry("pending"), assistant("a")];
    expect(latest.update(log)?.map(({ status }) => status)).toEqual(["pending"]);
    const grown = [...log, assistant("b")];
    expect(latest.update(grown)?.map(({ status }) => status)).toEqual(["pending"]);
    expect(latest.update([...grown, entry("completed")])?.map(({ status }) => status)).toEqual(["completed"]);
    expect(latest.update([assistant("c")])).toBeNull();
  });

  it("leaves out the lists of other branches", () => {
    const latest = new LatestTodos();
    const at = <T extends object>(entry: T, id: string, parentId: string | null): T => ({ ...entry, id, parentId });
    const entry = (...states: string[]) => result("c", "todo", "", false, list(...states));
    const log = [at(entry("pending"), "a", null), at(entry("completed"), "b", "a")];
    expect(latest.update(log)?.map(({ status }) => status)).toEqual(["completed"]);
    const moved = [...log, at(assistant("again"), "c", "a")];
    expect(latest.update(moved)?.map(({ status }) => status)).toEqual(["pending"]);
    const grown = [...moved, at(assistant("more"), "d", "c")];
    expect(latest.update(grown)?.map(({ status }) => status)).toEqual(["pending"]);
  });
});

describe("reads", () => {
  const message = (...blocks: Parameters<typeof assistant>[0][]) =>
    (assistant(blocks.flat() as never) as MessageEntry).message as AssistantMessage;
  const facts = (ids: string, isError = false): Map<string, ToolFacts> =>
    new Map([...ids].map((id) => [id, { ...nothing, result: told("read_file", "x", undefined, isError) }]));
  const read = (id: string, path = id) => call(id, "read_file", { path });
  const thought = { type: "thinking" as const, thinking: "hm" };

  it("finds the runs of a message, with the reasoning before and between", () => {
    const text = { type: "text" as const, text: "Then:" };
    const blocks = [thought, read("a"), thought, read("b"), text, read("c"), call("d", "bash", {}), read("e")];
    const runs = readRuns(message(blocks as never), facts("abcde"));
    expect(runs.map(({ from, to, calls }) => [from, to, calls.length])).toEqual([
      [0, 4, 2],
      [5, 6, 1],
      [7, 8, 1],
    ]);
  });

  it.each<[string, Map<string, ToolFacts>]>([
    ["runs", new Map()],
    ["failed", facts("a", true)],
  ])("skips a call that %s", (_, of) => {
    expect(readRuns(message([read("a")] as never), of)).toEqual([]);
  });

  it("counts files once", () => {
    const calls = [read("a", "x/y.go"), read("b", "x/y.go"), call("c", "grep", {}), call("d", "list_dir", {})];
    expect(countReads(calls)).toEqual({ files: 1, searches: 1, folders: 1, names: ["y.go"] });
  });
});
