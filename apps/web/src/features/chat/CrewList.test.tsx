import "../../app/testing/browser";
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { SessionState } from "../../api/contract";
import type { CrewChild, SessionSummary } from "../../api/types";
import { approval, assistant, call, custom, hostInfo, result, summary, user } from "../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";
import { withSession } from "../shared/sessions";

const prompt = { clientKey: "k", turnId: "t1" };
const asks = () => [
  user("look around", prompt),
  assistant([call("c1", "delegate_parallel", { tasks: [{ prompt: "a" }, { prompt: "b" }] })], {
    stopReason: "toolUse",
  }),
];

function members(...states: CrewChild["state"][]): CrewChild[] {
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
  const { router } = renderApp(scorel, "/d/dev_one/s/s1");
  await screen.findByTestId("composer");
  await act(async () => {});
  return { session, router };
}

const rows = () => screen.getAllByTestId("crew-member");

test("a call shows who works for it, from the running turn and then from the log", async () => {
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

test("a child is opened from its call, and leads back", async () => {
  const record = { toolCallId: "c1", entryId: "e", members: members("completed", "completed") };
  const { router } = await open({ entries: [...asks(), custom("scorel.crew", record)] });
  fireEvent.click(within(rows()[0] as HTMLElement).getByRole("link"));
  await waitFor(() => expect(router.state.location.pathname).toBe("/d/dev_one/s/s2"));
  expect(await screen.findByText(/The agent explore works here/)).toBeTruthy();
  const back = screen.getByTestId("parent-session");
  expect(back.textContent).toBe("A session");
  fireEvent.click(back);
  await waitFor(() => expect(router.state.location.pathname).toBe("/d/dev_one/s/s1"));
});

test("what a child asks is answered where it was asked for", async () => {
  const { session } = await open({ entries: asks() });
  const asking = { ...members("running")[0], approvals: [approval({ id: "a9" })] } as CrewChild;
  act(() =>
    session.patchLive({
      turn: { turnId: "t1", clientKey: "k", startedAt: 1 },
      crew: [{ toolCallId: "c1", entryId: "e", startedAt: 1, children: [asking] }],
    }),
  );
  expect(rows()[0]?.textContent).toContain("waits for you");
  expect(screen.getByTestId("approval-card").textContent).toContain("The agent explore asks");
  fireEvent.click(screen.getByTestId("approval-allow"));
  await waitFor(() => expect(session.answers).toEqual([{ approvalId: "a9", decision: "allow", sessionId: "s2" }]));
});

test("a child that is heard of is not listed beside the session that it belongs to", () => {
  const list = (...sessions: SessionSummary[]) => ({ pages: [{ sessions, total: sessions.length }], pageParams: [""] });
  const ids = (pages: ReturnType<typeof withSession>) =>
    pages.pages.flatMap((page) => page.sessions.map(({ id }) => id));
  const child = summary("s2", "p1", "task", { parentSessionId: "s1" });
  const orphan = summary("s3", "p1", "task of one that is gone", { parentSessionId: "s0" });
  const before = list(summary("s1", "p1", "A session"), orphan);
  expect(ids(withSession(before, child))).toEqual(["s1", "s3"]);
  expect(ids(withSession(before, orphan))).toEqual(["s3", "s1"]);
});
