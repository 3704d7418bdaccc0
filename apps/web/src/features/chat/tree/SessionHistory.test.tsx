import "../../../app/testing/browser";
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { ApiError } from "../../../api/contract";
import { emptyLive } from "../../../api/projection";
import {
  ApiKind,
  type ImageBlock,
  type MessageEntry,
  type SessionEntry,
  type TreeNode,
  type Turn,
} from "../../../api/types";
import { assistant, call, hostInfo, result, summary, user } from "../../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../../app/testing/fake-scorel";
import { renderApp } from "../../../app/testing/render-app";

function chained(entries: SessionEntry[]): SessionEntry[] {
  return entries.map((entry, i) => ({ ...entry, id: `e${i}`, parentId: i === 0 ? null : `e${i - 1}` }));
}

function picture(name: string): ImageBlock & { sha256: string } {
  return { type: "image", data: "", mimeType: "image/gif", sha256: name.repeat(64), size: 6 };
}

async function open(entries: SessionEntry[], models = hostInfo().models) {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: "dev_one", label: "workshop", online: true }]);
  const host = scorel.host("dev_one");
  const listed = summary("s1", "p1", "A session");
  host.handlers.get_host = () => ({ host: hostInfo({ models }) });
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

test("a message of the user is edited after a rewind", async () => {
  const { host, asked } = await open([user("First"), assistant("One"), user("Second"), assistant("Two")]);
  host.handlers.rewind_session = () => ({ leafId: "e9", text: "Second" });
  fireEvent.click((await screen.findAllByTestId("place-menu"))[2] as HTMLElement);
  fireEvent.click(await screen.findByTestId("go-here"));
  await waitFor(() => expect(screen.queryByTestId("go-here")).toBeNull());
  expect(asked("rewind_session")).toMatchObject([{ sessionId: "s1", expectedLeaf: "e3", targetEntryId: "e2" }]);
  const composer = screen.getByTestId("composer") as HTMLTextAreaElement;
  await waitFor(() => expect(composer.value).toBe("Second"));
});

test("a prompt returns to the composer with its images, and single ones can be removed", async () => {
  const { host, session } = await open(
    [user("First"), assistant("One")],
    [{ name: "main", provider: "local", id: "m", images: true }],
  );
  const content = [{ type: "text" as const, text: "Compare" }, picture("a"), picture("b")];
  host.handlers.get_blob = () => ({ mimeType: "image/gif", size: 6, data: btoa("GIF89a") });
  host.handlers.rewind_session = () => ({ leafId: "e9", text: "Compare", content });
  fireEvent.click((await screen.findAllByTestId("place-menu"))[0] as HTMLElement);
  fireEvent.click(await screen.findByTestId("go-here"));
  const images = within(await screen.findByTestId("attached-images"));
  expect(images.getAllByRole("img")).toHaveLength(2);
  fireEvent.click(images.getByRole("button", { name: "Remove image 1" }));
  fireEvent.keyDown(screen.getByTestId("composer"), { key: "Enter" });
  const [sent] = session.state.get().outgoing;
  expect(sent).toMatchObject({ text: "Compare", images: [{ sha256: picture("b").sha256 }] });
  expect(screen.queryByTestId("attached-images")).toBeNull();
});

test("a fork keeps the images of the prompt that it is made before", async () => {
  const { host } = await open([user("First"), assistant("One")]);
  host.sessions.set("s2", new FakeSession("s2", { summary: summary("s2", "p1", "Fork") }));
  host.handlers.fork_session = () => ({ session: summary("s2", "p1", "Fork"), text: "First", content: [picture("a")] });
  fireEvent.click((await screen.findAllByTestId("place-menu"))[0] as HTMLElement);
  fireEvent.click(await screen.findByTestId("fork-here"));
  await screen.findByTestId("attached-images");
  expect((screen.getByTestId("composer") as HTMLTextAreaElement).value).toBe("First");
});

test("a rejected prompt is sent without its images, or edited", async () => {
  const { session } = await open([user("First"), assistant("One")]);
  const failed = (clientKey: string) => ({
    ...{ clientKey, text: `Look ${clientKey}`, images: [picture("a")], mine: true, createdAt: 1 },
    ...{ state: "failed" as const, error: "the model small does not accept images" },
  });
  session.patch({ outgoing: [failed("k1"), failed("k2")] });
  fireEvent.click((await screen.findAllByTestId("send-without-images"))[0] as HTMLElement);
  expect(session.discarded).toEqual(["k1"]);
  expect(session.sent).toEqual(["Look k1"]);
  expect(session.sentImages).toEqual([0]);
  fireEvent.click(screen.getByTestId("edit-failed"));
  expect(session.discarded).toEqual(["k1", "k2"]);
  await waitFor(() => expect((screen.getByTestId("composer") as HTMLTextAreaElement).value).toBe("Look k2"));
  expect(screen.getByTestId("attached-images")).toBeTruthy();
});

test("an edit of a queued prompt that the host rejects is kept with the reason", async () => {
  const { session } = await open([user("First")]);
  const content = [{ type: "text" as const, text: "Look" }, picture("a"), picture("b")];
  const queued = { clientKey: "a", clientId: "cli_me", text: "Look", queuedAt: 1, content };
  session.patch({
    live: { ...emptyLive(), turn: { turnId: "t1", clientKey: "k", startedAt: 1 }, queue: [queued] },
    outgoing: [{ clientKey: "a", text: "Look", state: "host", mine: true, createdAt: 1 }],
  });
  session.refuseEdit = new ApiError(
    ApiKind.bad_request,
    "/lokk is neither a command nor a skill: nothing was changed.",
  );
  fireEvent.click(await screen.findByRole("button", { name: "Edit queued message" }));
  const sheet = within(await screen.findByRole("dialog"));
  fireEvent.change(sheet.getByLabelText("Message"), { target: { value: "/lokk" } });
  fireEvent.click(sheet.getByRole("button", { name: "Remove image 1" }));
  fireEvent.click(sheet.getByRole("button", { name: "Save" }));
  expect((await sheet.findByRole("alert")).textContent).toContain("neither a command nor a skill");
  expect((sheet.getByLabelText("Message") as HTMLTextAreaElement).value).toBe("/lokk");
  session.refuseEdit = null;
  fireEvent.change(sheet.getByLabelText("Message"), { target: { value: "Look" } });
  fireEvent.click(sheet.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(session.queues.at(-1)).toEqual([{ clientKey: "a", dropImages: [picture("a").sha256] }]);
});

test("an error is shown where the action was, and a label is stored", async () => {
  const { host, asked } = await open([user("First"), assistant("One")]);
  host.handlers.set_label = () => ({});
  fireEvent.click((await screen.findAllByTestId("place-menu"))[1] as HTMLElement);
  fireEvent.click(await screen.findByTestId("go-here"));
  expect(await screen.findByText(/does not know rewind_session/)).toBeTruthy();
  fireEvent.change(screen.getByLabelText("Label"), { target: { value: " good " } });
  fireEvent.click(screen.getByRole("button", { name: "Label" }));
  await waitFor(() => expect(asked("set_label")).toMatchObject([{ entryId: "e1", label: "good" }]));
});

test("another branch is opened, with a summary on request", async () => {
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
  fireEvent.click(await screen.findByTestId("go-here"));
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
  fireEvent.click(second.getByRole("button", { name: "Move up in the queue" }));
  fireEvent.click(second.getByRole("button", { name: "Remove queued message" }));
  fireEvent.click(second.getByRole("button", { name: "Send now" }));
  fireEvent.click(second.getByRole("button", { name: "Edit queued message" }));
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

test("what is inserted joins the draft", async () => {
  const { session } = await open([user("First")]);
  const failed = { mine: true, createdAt: 1, state: "failed" as const, error: "too large" };
  session.patch({ outgoing: [{ ...failed, clientKey: "a", text: "sent before" }] });
  const area = screen.getByTestId("composer") as HTMLTextAreaElement;
  fireEvent.change(area, { target: { value: "being written" } });
  fireEvent.click(await screen.findByTestId("edit-failed"));
  await waitFor(() => expect(area.value).toBe("sent before\n\nbeing written"));
});

test("a prompt that was removed or discarded can be sent again", async () => {
  const { session } = await open([user("First")]);
  const image = { sha256: "a".repeat(64), blob: new Blob(["bytes"], { type: "image/png" }) };
  const prompt = { clientKey: "a", text: "look at this", images: [image], mine: true, createdAt: 1 };
  session.patch({
    live: {
      ...emptyLive(),
      turn: { turnId: "t1", clientKey: "k", startedAt: 1 },
      queue: [{ clientKey: "a", clientId: "cli_me", text: "look at this", queuedAt: 1, mode: "steer" }],
    },
    outgoing: [
      { ...prompt, state: "host", steer: true },
      { ...prompt, clientKey: "b", text: "too much", state: "failed", error: "too large" },
    ],
  });
  fireEvent.click(await screen.findByRole("button", { name: "Remove queued message" }));
  await screen.findByText("Message removed.");
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  expect([session.sent, session.steered, session.sentImages]).toEqual([["look at this"], ["look at this"], [1]]);
  fireEvent.click(screen.getByRole("button", { name: "Discard" }));
  await screen.findByText("Message discarded.");
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  expect(session.discarded).toEqual(["b"]);
  expect(session.sent).toEqual(["look at this", "too much"]);
});

test("a summary replaces compacted messages, and opens on a click", async () => {
  await open([
    user("First"),
    assistant("One"),
    { type: "compaction", id: "c", parentId: null, timestamp: "", summary: "It was **long**." } as SessionEntry,
    user("Second"),
  ]);
  const divider = await screen.findByRole("button", { name: "Summary of older messages" });
  expect(screen.queryByText("long")).toBeNull();
  fireEvent.click(divider);
  expect(await screen.findByText("long")).toBeTruthy();
});

test("/compact requests a summary, and returns to the box if that fails", async () => {
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

test("the branches open at the session's place, not at the oldest line", async () => {
  const { host } = await open([user("First"), assistant("One")]);
  const node = (id: string, parentId: string | undefined, active: boolean): TreeNode => ({
    ...{ id, type: "message" as const, role: "user" as const, text: `line ${id}`, target: true, active },
    ...(parentId ? { parentId } : {}),
  });
  const path = Array.from({ length: 300 }, (_, i) => node(`n${i}`, i ? `n${i - 1}` : undefined, true));
  const branch = Array.from({ length: 20 }, (_, i) => node(`x${i}`, i ? `x${i - 1}` : "n100", false));
  host.handlers.get_tree = () => ({ leafId: "n299", nodes: [...path, ...branch] });
  const scrolled = vi.spyOn(Element.prototype, "scrollIntoView");
  fireEvent.click(screen.getByTestId("open-tree"));
  await screen.findAllByTestId("tree-node");
  expect(scrolled.mock.contexts.map((line) => (line as HTMLElement).textContent)).toEqual(["youline n299"]);
  expect(document.activeElement?.textContent).toContain("line n299");
  scrolled.mockRestore();
});

test("a prompt without a sender was imported", async () => {
  const { clientId: _, ...foreign } = user("First") as MessageEntry;
  await open([foreign, assistant("One"), user("Second", { clientId: "cli_other" })]);
  const [first, second] = await screen.findAllByTestId("message-user");
  expect(first?.textContent).toContain("Imported");
  expect(first?.textContent).not.toContain("from");
  expect(second?.textContent).toContain("from another device");
});

const moved = (id: string, parentId: string): SessionEntry => ({
  ...{ type: "custom", customType: "scorel.leaf", data: { from: "e1" } },
  ...{ id, parentId, timestamp: new Date(0).toISOString() },
});

test("a resent message shows its version and links to the others", async () => {
  const { host, session, asked } = await open([user("Hello"), assistant("Hi"), user("First try"), assistant("One")]);
  expect(screen.queryByTestId("versions")).toBeNull();
  const again = [user("Second try"), assistant("Two")].map((each, i) => ({
    ...each,
    ...{ id: `n${i}`, parentId: i === 0 ? "l1" : "n0" },
  }));
  session.patch({ entries: [...session.state.get().entries, moved("l1", "e1"), ...again] });
  const versions = within(await screen.findByTestId("versions"));
  expect(versions.getByText("Version 2 of 2")).toBeTruthy();
  expect((versions.getByRole("button", { name: "Next version" }) as HTMLButtonElement).disabled).toBe(true);
  host.handlers.navigate_session = () => ({ leafId: "e9" });
  fireEvent.click(versions.getByRole("button", { name: "Previous version" }));
  await waitFor(() =>
    expect(asked("navigate_session")).toMatchObject([{ expectedLeaf: "n1", targetEntryId: "e3", sessionId: "s1" }]),
  );
  session.patchLive({ turn: { turnId: "t1" } as Turn });
  await waitFor(() =>
    expect((versions.getByRole("button", { name: "Previous version" }) as HTMLButtonElement).disabled).toBe(true),
  );
});

const again = (id: string, parentId: string, text: string) => [
  { ...user(text), id, parentId },
  { ...assistant(`To ${text}`), id: `${id}a`, parentId: id },
];

test("a message whose other versions are not loaded has its position from the host", async () => {
  const { host, session, asked } = await open([user("Hello")]);
  let places = [{ versions: ["v1", "v2", "e0", "v4"].map((entryId) => ({ entryId, end: `${entryId}-end` })) }];
  host.handlers.list_versions = () => ({ places });
  session.patch({ earlier: "some" });
  const versions = within(await screen.findByTestId("versions"));
  expect(versions.getByText("Version 3 of 4")).toBeTruthy();
  host.handlers.navigate_session = () => ({ leafId: "e9" });
  fireEvent.click(versions.getByRole("button", { name: "Next version" }));
  await waitFor(() => expect(asked("navigate_session")).toMatchObject([{ targetEntryId: "v4-end" }]));

  // A fifth version is sent: only the host can count it.
  places = [{ versions: [...(places[0]?.versions ?? []), { entryId: "n1", end: "n1a" }] }];
  const entries = [...session.state.get().entries, moved("l1", "e-far"), ...again("n1", "l1", "Hello again")];
  act(() => session.patch({ entries }));
  expect(await screen.findByText("Version 5 of 5")).toBeTruthy();
  expect(asked("list_versions")).toEqual([{ sessionId: "s1" }, { sessionId: "s1" }]);

  // Once everything is loaded, the page counts them itself.
  act(() => session.patch({ earlier: "none" }));
  await waitFor(() => expect(screen.queryByTestId("versions")).toBeNull());
});

test("versions are those of the loaded entries if the host does not know the request", async () => {
  const { session, asked } = await open([user("Hello"), assistant("Hi"), user("First try"), assistant("One")]);
  const entries = [...session.state.get().entries, moved("l1", "e1"), ...again("n1", "l1", "Second try")];
  act(() => session.patch({ entries, earlier: "some" }));
  await waitFor(() => expect(asked("list_versions")).toHaveLength(1));
  expect(await screen.findByText("Version 2 of 2")).toBeTruthy();
});

test("a turn that failed is sent again in its place", async () => {
  const failed = assistant("", { stopReason: "error", errorMessage: "The provider is overloaded." });
  const { host, session, asked } = await open([user("Hello"), failed]);
  host.handlers.rewind_session = () => ({ leafId: "e9", text: "Hello" });
  fireEvent.click(await screen.findByTestId("retry-turn"));
  await waitFor(() => expect(session.sent).toEqual(["Hello"]));
  expect(asked("rewind_session")).toMatchObject([{ expectedLeaf: "e1", targetEntryId: "e0" }]);
});

test("a turn that was canceled before any answer is sent again", async () => {
  const end = { type: "custom", customType: "scorel.turn", data: { turnId: "t", stopReason: "aborted" } } as const;
  const canceled = { ...end, id: "e1", parentId: "e0", timestamp: new Date(0).toISOString() };
  const { host, session } = await open([user("Hello"), canceled]);
  host.handlers.rewind_session = () => ({ leafId: "e9", text: "Hello" });
  fireEvent.click(await screen.findByTestId("retry-turn"));
  await waitFor(() => expect(session.sent).toEqual(["Hello"]));
});

test("the buttons of the chosen version get the focus, unless it has moved elsewhere", async () => {
  const { host, session } = await open([user("Hello"), assistant("Hi"), user("First try"), assistant("One")]);
  const at = (entry: SessionEntry, id: string, parentId: string) => ({ ...entry, id, parentId });
  const entries = [
    ...session.state.get().entries,
    ...[moved("l1", "e1"), at(user("Second try"), "n0", "l1"), at(assistant("Two"), "n1", "n0")],
  ];
  session.patch({ entries });
  host.handlers.navigate_session = () => ({ leafId: "e9" });
  const press = async (name: string) => {
    const button = within(await screen.findByTestId("versions")).getByRole("button", { name });
    button.focus();
    fireEvent.click(button);
    await waitFor(() => expect(host.requests.at(-1)?.name).toBe("navigate_session"));
  };
  const focused = () => document.activeElement?.getAttribute("aria-label");
  await press("Previous version");
  act(() => session.patch({ entries: [...entries, moved("l2", "e3")] }));
  await screen.findByText("First try");
  await waitFor(() => expect(focused()).toBe("Next version"));
  await press("Next version");
  const composer = screen.getByTestId("composer");
  composer.focus();
  act(() => session.patch({ entries: [...entries, moved("l2", "e3"), moved("l3", "n1")] }));
  await screen.findByText("Second try");
  expect(document.activeElement).toBe(composer);
});

test("a turn that has used tools continues where it stopped", async () => {
  const worked = assistant([call("c1", "bash", { command: "ls" })], { stopReason: "toolUse" });
  const failed = assistant("", { stopReason: "error", errorMessage: "The provider is overloaded." });
  const { session } = await open([user("Hello"), worked, result("c1", "bash", "a"), failed]);
  expect(screen.queryByTestId("retry-turn")).toBeNull();
  fireEvent.click(await screen.findByTestId("continue-turn"));
  await waitFor(() => expect(session.sent).toEqual(["Continue where you stopped."]));
});
