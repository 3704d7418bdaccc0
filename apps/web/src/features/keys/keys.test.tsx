import "../../app/testing/browser";
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Live, Requests, SessionSummary } from "../../api/types";
import { setMedia } from "../../app/testing/browser";
import { hostInfo, project, summary } from "../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";
import { seen } from "../shared/seen";

afterEach(() => {
  vi.unstubAllGlobals();
  delete document.documentElement.dataset.theme;
});

const now = Date.now();
const turn = { turnId: "t1", promptId: "p", startedAt: 0 } as unknown as NonNullable<Live["turn"]>;

/** Sets up two machines, each with a project and sessions. */
function world() {
  const scorel = new FakeScorel();
  scorel.devices.set([
    { id: "dev_one", label: "workshop", online: true },
    { id: "dev_two", label: "attic", online: true },
  ]);
  const sessions: Record<string, SessionSummary[]> = {
    dev_one: [
      summary("s1", "p1", "Bound the queues", { updatedAt: now - 3_000 }),
      summary("s2", "p1", "Old talk", { updatedAt: now - 9_000 }),
    ],
    dev_two: [
      summary("s3", "p1", "Deploy the site", { updatedAt: now - 1_000 }),
      summary("s4", "p1", "Backup", { updatedAt: now - 8_000, running: true, waitingApproval: true }),
    ],
  };
  for (const [id, listed] of Object.entries(sessions)) {
    const host = scorel.host(id);
    host.handlers.get_host = () => ({ host: hostInfo({ deviceId: id }) });
    host.handlers.list_projects = () => ({ projects: [project("p1", id === "dev_one" ? "/ada/lamps" : "/srv/site")] });
    host.handlers.list_sessions = () => ({ sessions: listed, total: listed.length });
    host.handlers.list_clients = () => ({ clients: [] });
    for (const session of listed) {
      host.sessions.set(session.id, new FakeSession(session.id, { summary: session }));
    }
  }
  return { scorel, one: scorel.host("dev_one"), two: scorel.host("dev_two") };
}

function press(key: string, more = {}) {
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more });
}

async function open() {
  press("k", { ctrlKey: true });
  const field = (await screen.findByTestId("palette-text")) as HTMLInputElement;
  return { field, type: (text: string) => fireEvent.change(field, { target: { value: text } }) };
}

const options = (kind = "") =>
  screen
    .queryAllByTestId("palette-option")
    .filter((option) => kind === "" || option.dataset.kind === kind)
    .map((option) => option.textContent ?? "");
const selected = () =>
  screen.getAllByTestId("palette-option").find((option) => option.getAttribute("aria-selected") === "true")
    ?.textContent;

test("keys that are pressed before the dialogs are loaded open them", async () => {
  renderApp(world().scorel, "/");
  expect(screen.queryByTestId("skip")).toBeNull();
  fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
  await screen.findByTestId("palette");
});

test("before anything is typed, sessions that need the person and the newest come first", async () => {
  const { scorel } = world();
  renderApp(scorel, "/d/dev_one/s/s2");
  await open();
  await waitFor(() => expect(options("sessions")).toHaveLength(3));
  expect(options("sessions")).toEqual([
    expect.stringMatching(/^Needs you: Backup.*site · attic/),
    expect.stringMatching(/^Deploy the site/),
    expect.stringMatching(/^Bound the queues.*lamps · workshop/),
  ]);
  expect(options("machines")).toEqual(["workshop", "attic"]);
  await waitFor(() => expect(options("page")).toContain("Archive this session"));
  expect(options("actions")).toContain("Open a terminal on workshop");
  expect(options("actions").filter((each) => each.startsWith("New session"))).toEqual(["New session in lampsworkshop"]);
});

test("a session that is marked unread is left, because an open one is read", async () => {
  const { scorel } = world();
  renderApp(scorel, "/d/dev_one/s/s2");
  const { type } = await open();
  type("unread");
  await waitFor(() => expect(selected()).toBe("Mark this session as unread"));
  press("Enter");
  await waitFor(() => expect(location.pathname).toBe("/"));
  await screen.findByText("Marked as unread");
  seen.forget("dev_one");
});

test("a few letters and Enter open a session of any machine; nothing is stored", async () => {
  const { scorel } = world();
  renderApp(scorel, "/");
  await screen.findAllByTestId("inbox-row");
  const { type, field } = await open();
  expect(field.getAttribute("aria-expanded")).toBe("true");
  type("site dep");
  expect(selected()).toMatch(/^Deploy the site/);
  expect(document.getElementById(field.getAttribute("aria-activedescendant") ?? "")?.textContent).toBe(selected());
  fireEvent.keyDown(field, { key: "Enter", isComposing: true });
  expect(screen.getByTestId("palette")).toBeTruthy();
  press("Enter");
  await waitFor(() => expect(location.pathname).toBe("/d/dev_two/s/s3"));
  expect(screen.queryByTestId("palette")).toBeNull();
  expect((await open()).field.value).toBe("");
});

test("arrow keys wrap around, and the pointer selects where it moves", async () => {
  const { scorel } = world();
  renderApp(scorel, "/");
  await screen.findAllByTestId("inbox-row");
  const { type, field } = await open();
  type("theme");
  const all = screen.getAllByTestId("palette-option");
  expect(all.map((each) => each.getAttribute("aria-selected"))).toEqual(["true", "false"]);
  press("ArrowUp");
  expect(selected()).toBe(all.at(-1)?.textContent);
  press("ArrowDown");
  expect(selected()).toBe(all[0]?.textContent);
  fireEvent.pointerMove(all[1] as HTMLElement);
  expect(selected()).toBe(all[1]?.textContent);
  expect(document.activeElement).toBe(field);
  fireEvent.click(screen.getByText("Use the dark theme"));
  expect(document.documentElement.dataset.theme).toBe("dark");
  expect(screen.queryByTestId("palette")).toBeNull();
});

test("text that the machines find follows the local matches", async () => {
  const { scorel, one, two } = world();
  let answer = (_: Requests["search_sessions"]["response"]) => {};
  one.handlers.search_sessions = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  two.status.set("offline");
  renderApp(scorel, "/");
  await screen.findAllByTestId("inbox-row");
  const { type } = await open();
  type("queue");
  expect(options()).toEqual([expect.stringMatching(/^Bound the queues/)]);
  await waitFor(() => expect(one.requests.some(({ name }) => name === "search_sessions")).toBe(true));
  const hit = { sessionId: "s2", projectId: "p1", name: "Old talk", entryId: "e7", seq: 7, role: "user", at: now };
  act(() => answer({ hits: [{ ...hit, snippet: [{ text: "the " }, { text: "queue", found: true }] }], behind: 0 }));
  await waitFor(() => expect(options("text")).toEqual([expect.stringMatching(/^Old talk.*the queue$/)]));
  expect(selected()).toMatch(/^Bound the queues/);
  expect(screen.getByTestId("palette").textContent).toContain("Messages not searched: attic");
  fireEvent.click(within(screen.getByTestId("palette")).getByText("Old talk"));
  await waitFor(() => expect(location.search).toBe("?entry=e7"));
  expect(history.state).toMatchObject({ find: "queue" });
});

test("saved sessions are found while their machine is offline", async () => {
  const { scorel, one, two } = world();
  scorel.devices.set([{ id: "dev_one", label: "workshop", online: false }]);
  two.status.set("offline");
  one.status.set("offline");
  one.kept.list_sessions = { value: { sessions: [summary("s1", "p1", "Bound the queues")] }, savedAt: now };
  renderApp(scorel, "/");
  await screen.findAllByTestId("inbox-row");
  const { type } = await open();
  type("bound");
  expect(options("sessions")).toEqual([expect.stringMatching(/^Bound the queues/)]);
  expect(await screen.findByText(/Search is not available/)).toBeTruthy();
  type("xyzzy");
  expect(options()).toEqual([]);
});

test("the page's own actions are listed while they are available", async () => {
  const { scorel, one } = world();
  renderApp(scorel, "/d/dev_one/s/s1");
  const session = one.sessions.get("s1");
  await screen.findByTestId("composer");
  act(() => session?.patchLive({ turn }));
  const { type } = await open();
  type("stop");
  expect(selected()).toMatch(/^Stop the turn/);
  press("Enter");
  await waitFor(() => expect(session?.canceled).toBe(1));
  act(() => session?.patchLive({ turn: null }));
  (await open()).type("stop the turn");
  expect(options("page")).toEqual([]);
});

test("Ctrl+K closes it again, and belongs to a shell in a terminal; a Mac has Command+K", async () => {
  const { scorel } = world();
  renderApp(scorel, "/");
  await screen.findAllByTestId("inbox-row");
  await open();
  press("k", { ctrlKey: true });
  expect(screen.queryByTestId("palette")).toBeNull();
  const shell = document.body.appendChild(document.createElement("div"));
  shell.className = "xterm";
  expect(fireEvent.keyDown(shell, { key: "k", ctrlKey: true })).toBe(true);
  expect(screen.queryByTestId("palette")).toBeNull();
  vi.stubGlobal("navigator", { ...navigator, platform: "MacIntel", languages: ["en"], clipboard: undefined });
  expect(fireEvent.keyDown(document.body, { key: "k", ctrlKey: true })).toBe(true);
  expect(fireEvent.keyDown(shell, { key: "k", metaKey: true })).toBe(false);
  expect(await screen.findByTestId("palette")).toBeTruthy();
  shell.remove();
});

test("the sidebar and the phone's inbox have a button for it", async () => {
  const { scorel } = world();
  const { unmount } = renderApp(scorel, "/");
  fireEvent.click(await screen.findByTestId("open-palette"));
  expect(await screen.findByTestId("palette")).toBeTruthy();
  unmount();
  setMedia("(min-width: 768px)", true);
  renderApp(scorel, "/d/dev_one");
  const sidebar = await screen.findByRole("navigation", { name: "Machines and sessions" });
  fireEvent.click(within(sidebar).getByRole("button", { name: "Search and commands" }));
  expect(await screen.findByTestId("palette")).toBeTruthy();
});

test.each([
  ["/", "Mark as read or unread"],
  ["/d/dev_one/s/s1", "Stop the turn (in the message box or the transcript)"],
  ["/d/dev_one/new?project=p1", "New line"],
  ["/pair", "Show these shortcuts"],
])("? lists the keys of %s", async (path, text) => {
  const { scorel } = world();
  renderApp(scorel, path);
  await screen.findByTestId("skip");
  const field = document.body.appendChild(document.createElement("input"));
  fireEvent.keyDown(field, { key: "?" });
  field.remove();
  expect(screen.queryByRole("dialog")).toBeNull();
  fireEvent.keyDown(document.body, { key: "?" });
  const sheet = await screen.findByRole("dialog", { name: "Keyboard shortcuts" });
  expect(within(sheet).getByText(text)).toBeTruthy();
  expect(within(sheet).getByText("Everywhere")).toBeTruthy();
});

test.each(["/", "/pair", "/connection", "/share", "/nowhere", "/d/dev_one", "/d/dev_one/s/s1", "/d/dev_none"])(
  "the first control of %s skips to its main content",
  async (path) => {
    setMedia("(min-width: 768px)", true);
    const { scorel } = world();
    const { container } = renderApp(scorel, path);
    const skip = await screen.findByTestId("skip");
    expect(container.querySelector("a[href],button,input")).toBe(skip);
    await waitFor(() => expect(container.querySelector("main")).toBeTruthy());
    fireEvent.click(skip);
    expect(document.activeElement?.tagName).toBe("MAIN");
  },
);
