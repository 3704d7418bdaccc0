import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeAll, expect, test } from "vitest";
import type { SessionState } from "../../../api/contract";
import type { Process, ProcessLine, SessionSummary, SubagentChild } from "../../../api/types";
import { setInSight } from "../../../app/testing/browser";
import { approval, assistant, call, custom, hostInfo, result, summary, user } from "../../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../../app/testing/fake-scorel";
import { renderApp } from "../../../app/testing/render-app";
import { withSession } from "../../shared/sessions";
import { lateCards } from "../approvals/late-cards";
import { lateReader } from "../text/late-reader";

beforeAll(async () => {
  await lateCards.load();
});

beforeAll(async () => {
  await lateReader.load();
});

const prompt = { clientKey: "k", turnId: "t1" };
const asks = () => [
  user("look around", prompt),
  assistant([call("c1", "delegate_parallel", { tasks: [{ prompt: "a" }, { prompt: "b" }] })], {
    stopReason: "toolUse",
  }),
];

function members(...states: SubagentChild["state"][]): SubagentChild[] {
  return states.map((state, i) => ({ sessionId: `s${i + 2}`, agent: "explore", title: `task ${i + 1}`, state }));
}

async function open(state: Partial<SessionState>) {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: "dev_one", label: "workshop", online: true }]);
  const host = scorel.host("dev_one");
  const listed = [summary("s1", "p1", "A session")];
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects: [{ id: "p1", name: "site", path: "/site" }] });
  host.handlers.list_sessions = () => ({ sessions: listed });
  host.handlers.list_clients = () => ({ clients: [] });
  const session = new FakeSession("s1", { summary: listed[0] ?? null, ...state });
  host.sessions.set("s1", session);
  const child = summary("s2", "p1", "task 1", { parentSessionId: "s1" });
  host.sessions.set(
    "s2",
    new FakeSession("s2", { summary: child, entries: [custom("scorel.child", { agent: "explore" })] }),
  );
  renderApp(scorel, "/d/dev_one/s/s1");
  await screen.findByTestId("composer");
  await act(async () => {});
  return { session };
}

const rows = () => screen.getAllByTestId("crew-member");

test("a call shows its subagents, from the running turn and then from the log", async () => {
  const { session } = await open({ entries: asks() });
  act(() =>
    session.patchLive({
      turn: { turnId: "t1", clientKey: "k", startedAt: 1 },
      tools: [{ toolCallId: "c1", toolName: "delegate_parallel", output: "" }],
      crew: [{ toolCallId: "c1", entryId: "e", startedAt: 1, children: members("running", "queued") }],
    }),
  );
  expect(screen.getByTestId("tool-card").textContent).toContain("2 tasks");
  expect(rows().map((row) => row.dataset.state)).toEqual(["running", "queued"]);
  const record = { toolCallId: "c1", entryId: "e", members: members("completed", "failed") };
  act(() =>
    session.patch({
      entries: [...asks(), custom("scorel.crew", record), result("c1", "delegate_parallel", "reports")],
      live: { ...session.state.get().live, turn: null, tools: [], crew: [] },
    }),
  );
  expect(rows().map((row) => row.dataset.state)).toEqual(["completed", "failed"]);
});

test("each task shows its goal, its report and its usage", async () => {
  const [one, two] = members("completed", "running") as [SubagentChild, SubagentChild];
  const usage = { input: 4000, output: 200, cacheRead: 0, cacheWrite: 0, totalTokens: 4200 };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const work = { summary: "All is **well**", toolNames: ["grep", "read_file"], toolCallCount: 3 };
  const done = { ...one, ...work, usage: { ...usage, cost }, startedAt: 1000, endedAt: 43_000 };
  const record = { toolCallId: "c1", entryId: "e", members: [done, two, members("queued")[0]] };
  const text = '<report task="1">\nAll is **well**\n\n- one\n</report>\n';
  await open({
    entries: [
      ...asks(),
      custom("scorel.crew", record),
      result("c1", "delegate_parallel", text, false, { agents: [{ lines: [1, 4] }, {}] }),
    ],
  });
  expect(screen.getByTestId("crew-progress").textContent).toBe("1 of 3 finished");
  const first = rows()[0] as HTMLElement;
  expect(first.textContent).toContain("explore · 3 calls · 4.2K tokens · 42 s");
  fireEvent.click(within(first).getByRole("button"));
  expect(within(first).getByText("grep, read_file")).toBeTruthy();
  expect(first.textContent).toContain("Taska"); // the goal, under its heading
  const report = within(first).getByTestId("crew-report");
  expect(report.querySelector("strong")?.textContent).toBe("well");
  expect(report.querySelector("li")?.textContent).toBe("one");
  fireEvent.click(within(rows()[1] as HTMLElement).getByRole("button"));
  expect(within(rows()[1] as HTMLElement).queryByTestId("crew-report")).toBeNull();
});

test("operations of an agent are shown below it", async () => {
  const { session } = await open({ entries: asks() });
  const operation = (operationId: string, more: Partial<ProcessLine>): Process => ({
    toolCallId: "c1",
    startedAt: 1,
    processLogRef: `plog:${operationId}`,
    last: {
      ...{ version: 1, operationId, targetType: "skill", source: "convert", status: "running", level: "info" },
      ...{ message: "", timestamp: 1, sequence: 1, ...more },
    } as ProcessLine,
  });
  act(() =>
    session.patchLive({
      turn: { turnId: "t1", clientKey: "k", startedAt: 1 },
      crew: [{ toolCallId: "c1", entryId: "e", startedAt: 1, children: members("running", "running") }],
      processes: [
        operation("op_task", { targetType: "agent", taskId: "s3" }),
        operation("op_script", { parentOperationId: "op_task", message: "Page 3", current: 3, total: 12 }),
      ],
    }),
  );
  expect(within(rows()[0] as HTMLElement).queryByTestId("operation")).toBeNull();
  const shown = within(rows()[1] as HTMLElement).getAllByTestId("operation");
  expect(shown).toHaveLength(1);
  expect(shown[0]?.textContent).toContain("Page 3");
  expect(
    within(rows()[1] as HTMLElement)
      .getByRole("progressbar")
      .getAttribute("aria-valuenow"),
  ).toBe("25");
});

test("a child is opened from its call, and links back", async () => {
  const record = { toolCallId: "c1", entryId: "e", members: members("completed", "completed") };
  await open({ entries: [...asks(), custom("scorel.crew", record)] });
  fireEvent.click(within(rows()[0] as HTMLElement).getByRole("link"));
  await waitFor(() => expect(location.pathname).toBe("/d/dev_one/s/s2"));
  expect(await screen.findByText(/Subagent explore, working on a task/)).toBeTruthy();
  const back = screen.getByTestId("parent-session");
  await waitFor(() => expect(back.textContent).toBe("A session"));
  fireEvent.click(back);
  await waitFor(() => expect(location.pathname).toBe("/d/dev_one/s/s1"));
});

test("approvals of a child are answered in the parent session", async () => {
  setInSight("[data-testid=approval-actions]");
  const { session } = await open({ entries: asks() });
  const asking = { ...members("running")[0], approvals: [approval({ id: "a9" })] } as SubagentChild;
  act(() =>
    session.patchLive({
      turn: { turnId: "t1", clientKey: "k", startedAt: 1 },
      crew: [{ toolCallId: "c1", entryId: "e", startedAt: 1, children: [asking] }],
    }),
  );
  expect(rows()[0]?.textContent).toContain("needs you");
  expect(screen.getByTestId("approval-card").textContent).toContain("Approval needed by explore");
  await waitFor(() => expect(screen.getByTestId("approval-allow").getAttribute("aria-disabled")).toBeNull());
  fireEvent.click(screen.getByTestId("approval-allow"));
  await waitFor(() => expect(session.answers).toEqual([{ approvalId: "a9", decision: "allow", sessionId: "s2" }]));
});

test("a child that is announced is not listed beside its parent session", () => {
  const list = (...sessions: SessionSummary[]) => ({ pages: [{ sessions, total: sessions.length }], pageParams: [""] });
  const ids = (pages: ReturnType<typeof withSession>) =>
    pages.pages.flatMap((page) => page.sessions.map(({ id }) => id));
  const child = summary("s2", "p1", "task", { parentSessionId: "s1" });
  const orphan = summary("s3", "p1", "task of one that is gone", { parentSessionId: "s0" });
  const before = list(summary("s1", "p1", "A session"), orphan);
  expect(ids(withSession(before, child))).toEqual(["s1", "s3"]);
  expect(ids(withSession(before, orphan))).toEqual(["s3", "s1"]);
});
