import "../../app/testing/browser";
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { emptyLive } from "../../api/projection";
import type { SessionEntry } from "../../api/types";
import { assistant, hostInfo, summary, user } from "../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";

function chained(entries: SessionEntry[]): SessionEntry[] {
  return entries.map((entry, i) => ({ ...entry, id: `e${i}`, parentId: i === 0 ? null : `e${i - 1}` }));
}

async function open(entries: SessionEntry[]) {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: "dev_one", label: "workshop", online: true }]);
  const host = scorel.host("dev_one");
  const listed = summary("s1", "p1", "A session");
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects: [] });
  host.handlers.list_sessions = () => ({ sessions: [listed] });
  host.handlers.list_clients = () => ({ clients: [] });
  const session = new FakeSession("s1", { summary: listed, entries: chained(entries) });
  host.sessions.set("s1", session);
  renderApp(scorel, "/d/dev_one/s/s1");
  await screen.findByTestId("composer");
  const asked = (name: string) => host.requests.filter((each) => each.name === name).map((each) => each.fields);
  return { host, session, asked };
}

test("a message of the user is written anew after a rewind", async () => {
  const { host, asked } = await open([user("First"), assistant("One"), user("Second"), assistant("Two")]);
  host.handlers.rewind_session = () => ({ leafId: "e9", text: "Second" });
  fireEvent.click((await screen.findAllByTestId("place-menu"))[2] as HTMLElement);
  fireEvent.click(screen.getByTestId("go-here"));
  await waitFor(() => expect(screen.queryByTestId("go-here")).toBeNull());
  expect(asked("rewind_session")).toMatchObject([{ sessionId: "s1", expectedLeaf: "e3", targetEntryId: "e2" }]);
  const composer = screen.getByTestId("composer") as HTMLTextAreaElement;
  await waitFor(() => expect(composer.value).toBe("Second"));
});

test("a refusal is told where it was asked, and a label is kept", async () => {
  const { host, asked } = await open([user("First"), assistant("One")]);
  host.handlers.set_label = () => ({});
  fireEvent.click((await screen.findAllByTestId("place-menu"))[1] as HTMLElement);
  fireEvent.click(screen.getByTestId("go-here"));
  expect(await screen.findByText(/does not know rewind_session/)).toBeTruthy();
  fireEvent.change(screen.getByLabelText("Label"), { target: { value: " good " } });
  fireEvent.click(screen.getByRole("button", { name: "Label" }));
  await waitFor(() => expect(asked("set_label")).toMatchObject([{ entryId: "e1", label: "good" }]));
});

test("what lies on another branch is navigated to, with a summary where one is wanted", async () => {
  const { host, asked } = await open([user("First"), assistant("One")]);
  host.handlers.get_tree = () => ({
    leafId: "e1",
    nodes: [
      { id: "e0", type: "message", role: "user", text: "First", active: true, target: true },
      { id: "e1", parentId: "e0", type: "message", role: "assistant", text: "One", active: true, target: true },
      { id: "x1", parentId: "e0", type: "message", role: "assistant", text: "Other", target: true, label: "old" },
    ],
  });
  host.handlers.navigate_session = () => ({ leafId: "e1", working: true });
  fireEvent.click(screen.getByTestId("open-tree"));
  const nodes = await screen.findAllByTestId("tree-node");
  expect(nodes.map((each) => each.dataset.active)).toEqual(["true", "true", "false"]);
  fireEvent.click(nodes[2] as HTMLElement);
  fireEvent.click(screen.getByRole("checkbox"));
  fireEvent.click(screen.getByTestId("go-here"));
  await waitFor(() => expect(asked("navigate_session")).toMatchObject([{ targetEntryId: "x1", summarize: true }]));
  await waitFor(() => expect(screen.queryByTestId("tree")).toBeNull());
});

test("the queue is edited as a whole", async () => {
  const { session } = await open([user("First")]);
  const queued = (clientKey: string) => ({ clientKey, clientId: "cli_me", text: `text ${clientKey}`, queuedAt: 1 });
  const outgoing = (clientKey: string) => ({
    clientKey,
    text: `text ${clientKey}`,
    state: "host" as const,
    mine: true,
    createdAt: 1,
  });
  session.patch({
    live: {
      ...emptyLive(),
      turn: { turnId: "t1", clientKey: "k", startedAt: 1 },
      queue: [queued("a"), queued("b"), queued("c")],
    },
    outgoing: [outgoing("a"), outgoing("b"), outgoing("c")],
  });
  const second = within((await screen.findAllByTestId("queue-buttons"))[1] as HTMLElement);
  fireEvent.click(second.getByRole("button", { name: "Move it up in the queue" }));
  fireEvent.click(second.getByRole("button", { name: "Remove this message" }));
  fireEvent.click(second.getByRole("button", { name: "Say it now" }));
  fireEvent.click(second.getByRole("button", { name: "Change this message" }));
  fireEvent.change(screen.getByLabelText("Message"), { target: { value: "better" } });
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(session.queues).toHaveLength(4));
  expect(session.queues).toEqual([
    [{ clientKey: "b" }, { clientKey: "a" }, { clientKey: "c" }],
    [{ clientKey: "a" }, { clientKey: "c" }],
    [{ clientKey: "b", mode: "steer" }, { clientKey: "a" }, { clientKey: "c" }],
    [{ clientKey: "a" }, { clientKey: "b", text: "better" }, { clientKey: "c" }],
  ]);
});

test("a summary stands for what was compacted, behind a click", async () => {
  await open([
    user("First"),
    assistant("One"),
    { type: "compaction", id: "c", parentId: null, timestamp: "", summary: "It was **long**." } as SessionEntry,
    user("Second"),
  ]);
  const divider = await screen.findByRole("button", { name: "Compacted" });
  expect(screen.queryByText("long")).toBeNull();
  fireEvent.click(divider);
  expect(await screen.findByText("long")).toBeTruthy();
});

test("/compact asks the host for a summary, and comes back into the box where that is refused", async () => {
  const { host, session, asked } = await open([user("First"), assistant("One")]);
  host.handlers.compact_session = () => ({});
  const composer = screen.getByTestId("composer") as HTMLTextAreaElement;
  const say = (text: string) => {
    fireEvent.change(composer, { target: { value: text } });
    fireEvent.keyDown(composer, { key: "Enter" });
  };
  say("/compact the tests");
  await waitFor(() => expect(asked("compact_session")).toMatchObject([{ sessionId: "s1", instructions: "the tests" }]));
  expect(composer.value).toBe("");
  delete host.handlers.compact_session;
  say("/compact");
  await waitFor(() => expect(composer.value).toBe("/compact"));
  expect(session.sent).toEqual([]);
  say("/compactor");
  await waitFor(() => expect(session.sent).toMatchObject(["/compactor"]));
});
