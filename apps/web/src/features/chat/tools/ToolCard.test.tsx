import "../../../app/testing/browser";
import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { ToolResultMessage } from "../../../api/types";
import { approval, result } from "../../../app/testing/builders";
import { nothing, type ToolFacts } from "../calls/tool-facts";
import { LiveContext, type LiveTools } from "../context/live-context";
import { ToolCard } from "./ToolCard";

const idle: LiveTools = { tools: [], approvals: [], questions: [], crew: [], running: false };
const none: ToolFacts = nothing;

function answered(text: string, isError = false, details?: unknown): ToolFacts {
  return { ...nothing, result: result("c1", "bash", text, isError, details).message as ToolResultMessage };
}

function show(facts: ToolFacts, live: LiveTools = idle, args: unknown = { command: "make test" }, name = "bash") {
  const card = (now: LiveTools) => (
    <LiveContext value={now}>
      <ToolCard id="c1" name={name} args={args} facts={facts} />
    </LiveContext>
  );
  const view = render(card(live));
  return { update: (now: LiveTools) => view.rerender(card(now)) };
}

const card = () => screen.getByTestId("tool-card");
const toggle = () => fireEvent.click(card().querySelector("button") as HTMLButtonElement);

describe("ToolCard", () => {
  it("shows command and output when it is opened", () => {
    show(answered("ok  relay 0.2s"));
    expect(card().textContent).toContain("make test");
    expect(card().textContent).not.toContain("ok  relay");
    toggle();
    expect(card().textContent).toContain("ok  relay 0.2s");
    toggle();
    expect(card().textContent).not.toContain("ok  relay");
  });

  it.each([
    ["done", answered("x"), "done"],
    ["a failure", answered("x", true), "failed"],
    ["an exit code", answered("x", true, { exitCode: 2 }), "exit 2"],
    ["a signal", answered("x", true, { exitCode: -1 }), "stopped"],
    ["exit code 0", answered("x", false, { exitCode: 0 }), "done"],
    ["a denial", { ...answered("Denied", true), decision: { decision: "deny", decidedBy: "x" } }, "denied"],
    ["a stop", { ...answered("Denied", true), decision: { decision: "stop", decidedBy: "x" } }, "stopped"],
  ])("names %s", (_, facts, label) => {
    show(facts);
    expect(card().textContent).toContain(label);
  });

  it("follows a running tool and shows the end of its output", () => {
    const output = Array.from({ length: 100 }, (_, i) => `line ${i}`).join("\n");
    const { update } = show(none, {
      tools: [{ toolCallId: "c1", toolName: "bash", output }],
      approvals: [],
      questions: [],
      crew: [],
      running: true,
    });
    expect(card().dataset.state).toBe("running");
    expect(card().textContent).toContain("line 99");
    expect(card().textContent).not.toContain("line 3\n");
    update({
      tools: [{ toolCallId: "c1", toolName: "bash", output: `${output}\nline 100` }],
      approvals: [],
      questions: [],
      crew: [],
      running: true,
    });
    expect(card().textContent).toContain("line 100");
  });

  it("folds a long output and opens it on demand", () => {
    show(answered(Array.from({ length: 100 }, (_, i) => `line ${i}`).join("\n")));
    toggle();
    expect(card().textContent).not.toContain("line 99");
    fireEvent.click(screen.getByRole("button", { name: "Show 76 more lines" }));
    expect(card().textContent).toContain("line 99");
  });

  it.each([
    ["waiting", { tools: [], approvals: [approval({ toolCallId: "c1" })], questions: [], crew: [], running: true }],
    ["pending", { tools: [], approvals: [approval({ toolCallId: "other" })], questions: [], crew: [], running: true }],
    ["lost", idle],
  ])("without a result is %s", (state, live) => {
    show(none, live);
    expect(card().dataset.state).toBe(state);
  });

  it("shows the path of a file tool, and the text to be written", () => {
    show(answered("written"), idle, { path: "docs/a.md", content: "# Title" }, "write_file");
    expect(card().textContent).toContain("docs/a.md");
    toggle();
    expect(card().textContent).toContain("# Title");
  });

  it.each([
    [
      { decision: "always", decidedBy: "x", rules: ["bash(go test *)"] },
      "Always allowed by another device: bash(go test *)",
    ],
    [{ decision: "deny", decidedBy: "x", feedback: "use make" }, "“use make”"],
    [
      { decision: "allow", decidedBy: "x", released: { rules: ["bash(make)"] } },
      "Allowed without an answer by the rule bash(make), after a change by",
    ],
    [{ decision: "stop", decidedBy: "x" }, "who stopped the turn"],
  ])("shows the decision %j", (decision, text) => {
    show({ ...answered("x"), decision });
    toggle();
    expect(card().textContent).toContain(text);
  });

  it("lists the arguments of an unknown tool", () => {
    show(answered("x"), idle, { query: "q", deep: { n: 1 } }, "oracle");
    toggle();
    expect(card().textContent).toContain("oracle");
    expect(card().textContent).toContain('{"n":1}');
  });

  it.each([[null], ["text"], [[1]], [{ command: 7 }]])("accepts arguments in an unexpected form: %j", (args) => {
    show(answered("x"), idle, args);
    toggle();
    expect(card().textContent).toContain("Run");
  });
});
