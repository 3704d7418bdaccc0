import "../../app/testing/browser";
import { act, screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { hostInfo, project, summary } from "../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";
import { clock } from "./time";

const dev = "dev_one";
const savedAt = Date.parse("2026-05-04T14:02:00");
const entry = (text: string) =>
  ({
    ...{ type: "message", id: "e1", parentId: null, timestamp: "2026-05-04T14:02:00.000Z", clientId: "cli_me" },
    message: { role: "user", content: [{ type: "text", text }], timestamp: savedAt },
  }) as never;

function world() {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: dev, label: "workshop", online: false, untold: true }]);
  const host = scorel.host(dev);
  host.status.set("connecting");
  const never = () => new Promise<never>(() => {});
  Object.assign(host.handlers, { get_host: never, list_projects: never, list_sessions: never, list_clients: never });
  host.kept.get_host = { savedAt, value: { host: hostInfo() } };
  host.kept.list_projects = { savedAt, value: { projects: [project("p1", "/home/ada/lamps")] } };
  host.kept.list_sessions = { savedAt, value: { sessions: [summary("s1", "p1", "Yesterday")], total: 1 } };
  return { scorel, host };
}

test("the lists of an unreachable machine are shown, with their time, until it answers", async () => {
  const complaints = vi.spyOn(console, "error");
  const { scorel, host } = world();
  renderApp(scorel, `/d/${dev}`);
  await screen.findByText("Yesterday");
  expect(screen.getByTestId("saved-copy").textContent).toBe(`Saved copy from ${clock(savedAt)}.`);
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects: [project("p1", "/home/ada/lamps")] });
  host.handlers.list_sessions = () => ({ sessions: [summary("s2", "p1", "Today")], total: 1 });
  act(() => host.status.set("open"));
  await screen.findByText("Today");
  expect(screen.queryByText("Yesterday")).toBeNull();
  expect(screen.queryByTestId("saved-copy")).toBeNull();
  expect(complaints.mock.calls.flat().join()).not.toContain("queryFn");
  complaints.mockRestore();
});

test("a copy never replaces an answer of the machine", async () => {
  const { scorel, host } = world();
  host.status.set("open");
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects: [project("p1", "/home/ada/lamps")] });
  host.handlers.list_sessions = () => ({ sessions: [summary("s2", "p1", "Today")], total: 1 });
  renderApp(scorel, `/d/${dev}`);
  await screen.findByText("Today");
  act(() => host.status.set("offline"));
  await waitFor(() => screen.getByTestId("offline-notice"));
  expect(screen.queryByText("Yesterday")).toBeNull();
  expect(screen.queryByTestId("saved-copy")).toBeNull();
});

test.each([
  ["offline", `Saved copy from ${clock(savedAt)}. workshop is offline`],
  ["reconnecting", `Saved copy from ${clock(savedAt)}. Reconnecting to workshop`],
] as const)("the copy of a session is marked as one: %s", async (status, text) => {
  const { scorel, host } = world();
  const session = new FakeSession("s1", {
    ...{ status, savedAt, summary: summary("s1", "p1", "Yesterday"), entries: [entry("was said")], earlier: "some" },
  });
  host.sessions.set("s1", session);
  renderApp(scorel, `/d/${dev}/s/s1`);
  await screen.findByText("was said");
  await waitFor(() => expect(screen.getByTestId("session-strip").textContent).toContain(text), { timeout: 60_000 });
  expect(screen.getByTestId("earlier").textContent).toContain("when the machine can be reached");
  act(() => session.patch({ status: "live", savedAt: null }));
  await waitFor(() => expect(screen.queryByTestId("session-strip")).toBeNull());
});

test("a prompt that this browser could not store is marked", async () => {
  const { scorel, host } = world();
  const prompt = { clientKey: "k", text: "hello", state: "device", mine: true, createdAt: 1 } as const;
  const session = new FakeSession("s1", { outgoing: [prompt] });
  host.sessions.set("s1", session);
  renderApp(scorel, `/d/${dev}/s/s1`);
  await screen.findByText("hello");
  expect(screen.queryByTestId("not-stored")).toBeNull();
  act(() => session.patch({ outgoing: [{ ...prompt, unstored: true }] }));
  expect(screen.getByTestId("not-stored").textContent).toContain("Not saved in this browser");
});
