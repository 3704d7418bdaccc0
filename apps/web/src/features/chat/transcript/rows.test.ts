// @vitest-environment node
import * as written from "@scorel/protocol/gen/session";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "../../../api/types";
import { assistant, call, custom, result, user } from "../../../app/testing/builders";
import { buildRows } from "./rows";

const turn = () => [
  user("go", { clientKey: "k1" }),
  assistant([call("c1", "bash", { command: "ls" }), call("c2", "glob", { pattern: "*" })], { stopReason: "toolUse" }),
  custom("scorel.approval", { approvalId: "a", toolCallId: "c1", request: { title: "Run" } }),
  custom("scorel.approval", {
    approvalId: "a",
    toolCallId: "c1",
    decision: "always",
    decidedBy: "cli_x",
    rules: ["r"],
  }),
  result("c1", "bash", "a.txt"),
];

describe("buildRows", () => {
  it("puts a result and a decision into the row of their call", () => {
    const rows = buildRows(turn());
    expect(rows.map((row) => row.kind)).toEqual(["user", "assistant"]);
    const tools = rows[1]?.kind === "assistant" ? rows[1].tools : new Map();
    expect(tools.get("c1")?.result?.content).toEqual([{ type: "text", text: "a.txt" }]);
    expect(tools.get("c1")?.decision).toEqual({ decision: "always", decidedBy: "cli_x", rules: ["r"] });
    expect(tools.get("c2")).toEqual({ result: null, decision: null, operations: [] });
  });

  it("puts the record of an operation into the row of its call, and no row of its own", () => {
    const record = { operationId: "op_1", toolCallId: "c1", processLogRef: "plog:s:op_1", lines: [] };
    const said = assistant([call("c1", "bash", {})]);
    const rows = buildRows([said, custom("scorel.process", record), custom("scorel.process", "odd")]);
    expect(rows).toHaveLength(1);
    const tools = rows[0]?.kind === "assistant" ? rows[0].tools : new Map();
    expect(tools.get("c1")?.operations).toEqual([record]);
    expect(buildRows([said], rows)[0]).not.toBe(rows[0]);
  });

  it("keys a prompt by its client key, so that its row stays the same on its way into the log", () => {
    expect(buildRows(turn())[0]?.key).toBe("k1");
  });

  it("keeps unchanged rows, and replaces the changed one", () => {
    const entries = turn();
    const before = buildRows(entries);
    const after = buildRows([...entries, result("c2", "glob", "b")], before);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(buildRows([...entries], before)[1]).toBe(before[1]);
  });

  it("shows a result without its call by itself", () => {
    expect(buildRows([result("lost", "bash", "x")]).map((row) => row.kind)).toEqual(["result"]);
  });

  it.each([
    ["a type of a newer host", { type: "hologram", id: "x", parentId: null, timestamp: "" }, "hologram"],
    ["a program's own entry", custom("pi.theme", { dark: true }), "pi.theme"],
  ])("shows %s as unknown", (_, entry, type) => {
    expect(buildRows([entry as unknown as SessionEntry])).toMatchObject([{ kind: "unknown", type }]);
  });

  it("shows the host's notes to the model behind a title", () => {
    const note = (kind: string, more = {}) =>
      ({
        type: "custom_message",
        id: kind,
        parentId: null,
        timestamp: "",
        customType: "scorel.note",
        content: "text",
        details: { kind, ...more },
      }) as SessionEntry;
    expect(buildRows([note("jobs"), note("instructions", { paths: ["/w/a/AGENTS.md"] }), note("later")])).toMatchObject(
      [
        { kind: "summary", title: "Background job finished", text: "text" },
        { kind: "summary", title: "Folder instructions: /w/a/AGENTS.md" },
        { kind: "summary", title: "Note to the agent" },
      ],
    );
    expect(buildRows([{ ...note("x"), customType: "other.hook" } as SessionEntry])).toMatchObject([
      { kind: "unknown", type: "other.hook" },
    ]);
  });

  it("shows no record of the host as unknown", () => {
    const types = Object.entries(written).flatMap(([name, type]) => (name.startsWith("CUSTOM_") ? [String(type)] : []));
    expect(types.length).toBeGreaterThan(20);
    const rows = types.filter((type) => type !== written.CUSTOM_NOTE).flatMap((type) => buildRows([custom(type, {})]));
    expect(rows.filter(({ kind }) => kind === "unknown")).toEqual([]);
  });

  it("hides the costs of calls", () => {
    expect(buildRows([{ type: "usage", id: "u", parentId: null, timestamp: "" } as SessionEntry])).toEqual([]);
  });

  it("hides the queue and the settings of other programs", () => {
    const label = { type: "label", id: "l", parentId: null, timestamp: "" } as SessionEntry;
    const environment = custom("scorel.environment", { os: "linux/amd64", date: "2026-01-02" });
    expect(buildRows([custom("scorel.queue", { items: [] }), environment, label])).toEqual([]);
  });

  it.each([
    ["instructions", "scorel.instructions", { files: [{ path: "/w/AGENTS.md", content: "x" }] }, "/w/AGENTS.md"],
    ["notes", "scorel.memory", { notes: [{ name: "build", scope: "project", text: "make" }] }, "build"],
    ["skills", "scorel.skills", { skills: [{ name: "pdf" }, { name: "web" }, {}] }, "pdf, web"],
  ])("shows which %s the agent was given", (_, type, data, names) => {
    expect(buildRows([custom(type, data)])).toMatchObject([{ kind: "note", text: expect.stringContaining(names) }]);
    expect(buildRows([custom(type, { files: [], skills: [] }), custom(type, null)])).toEqual([]);
  });

  it.each([
    ["an error", { turnId: "t", stopReason: "error", error: "no answer" }, [{ kind: "error", text: "no answer" }]],
    [
      "a cancel",
      { turnId: "t", stopReason: "aborted" },
      [{ kind: "note", text: "The turn was canceled.", canceled: true }],
    ],
    ["a good end", { turnId: "t", stopReason: "stop" }, []],
    ["a record in a strange form", "text", []],
  ])("shows a turn that ended with %s", (_, data, want) => {
    expect(buildRows([custom("scorel.turn", data)])).toMatchObject(want);
  });

  it("shows a failure only once", () => {
    const failed = assistant("half", { stopReason: "error", errorMessage: "no answer" });
    const stopped = assistant("half", { stopReason: "aborted" });
    const end = (stopReason: string) => custom("scorel.turn", { turnId: "t", stopReason, error: "no answer" });
    expect(buildRows([failed, end("error")]).map((row) => row.kind)).toEqual(["assistant"]);
    expect(buildRows([stopped, end("aborted")]).map((row) => row.kind)).toEqual(["assistant"]);
  });

  it("accepts content that is a plain string, as other programs write it", () => {
    const entry = user("x");
    const plain = { ...entry, message: { ...entry.message, content: "plain" } } as unknown as SessionEntry;
    expect(buildRows([plain]).map((row) => row.kind)).toEqual(["user"]);
  });
});
