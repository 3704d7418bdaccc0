import "../../app/testing/browser";
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { SessionSummary } from "../../api/types";
import { setMedia } from "../../app/testing/browser";
import { approval, hostInfo, project, summary } from "../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";
// Loaded before a test's fake clock runs.
import "./AskCards";
import { isUnread, SeenSessions, seen } from "../shared/seen";

beforeEach(() => {
  localStorage.clear();
  for (const id of Object.keys(seen.state.get())) {
    seen.forget(id);
  }
});

afterEach(() => {
  document.title = "";
});

const asks = { running: true, waitingApproval: true };

/** Sets up two machines, each with a project. */
function world(sessions: Record<string, SessionSummary[]>) {
  const scorel = new FakeScorel();
  scorel.devices.set([
    { id: "dev_one", label: "workshop", online: true },
    { id: "dev_two", label: "attic", online: true },
  ]);
  for (const [id, listed] of Object.entries(sessions)) {
    const host = scorel.host(id);
    host.handlers.get_host = () => ({ host: hostInfo() });
    host.handlers.list_projects = () => ({ projects: [project("p1", "/home/ada/lamps"), project("p2", "/srv/site")] });
    host.handlers.list_sessions = ({ archived }) => {
      const sessions = listed.filter((each) => (each.archived ?? false) === (archived === "only"));
      return { sessions, total: sessions.length };
    };
    host.handlers.list_clients = () => ({ clients: [] });
    host.handlers.update_session = ({ sessionId, ...fields }) => {
      const at = listed.findIndex((each) => each.id === sessionId);
      const session = { ...(listed[at] as SessionSummary), ...fields } as SessionSummary;
      listed[at] = session;
      return { session };
    };
  }
  return { scorel, one: scorel.host("dev_one"), two: scorel.host("dev_two") };
}

const titles = (testId: string) =>
  within(screen.getByTestId(testId))
    .getAllByRole("link")
    .map((link) => link.textContent ?? "");

test("sessions of all machines are listed by what they need", async () => {
  const { scorel } = world({
    dev_one: [summary("s1", "p1", "Bound the queues", asks), summary("s2", "p1", "Old talk", { updatedAt: 5 })],
    dev_two: [summary("s1", "p2", "Deploy", { running: true }), summary("s3", "p2", "News", { updatedAt: 9 })],
  });
  for (const id of ["dev_one", "dev_two"]) {
    seen.begin(id, [{ id: "", updatedAt: 7 }]);
  }
  setMedia("(min-width: 768px)", true);
  renderApp(scorel, "/");
  expect(await screen.findByTestId("inbox-asks")).toBeTruthy();
  await waitFor(() => expect(titles("inbox-running")).toEqual([expect.stringMatching(/Deploy.*site · attic/)]));
  expect(titles("inbox-needs-you")).toEqual([expect.stringMatching(/Bound the queues.*lamps · workshop/)]);
  expect(titles("inbox-unread")).toEqual([expect.stringMatching(/News.*site · attic/)]);
  expect(titles("inbox-recent")).toEqual([expect.stringMatching(/Old talk/)]);
  await waitFor(() => expect(document.title).toBe("(2) Inbox · scorel"));
  expect(screen.getByTestId("sidebar-inbox").textContent).toMatch(/1 session needs you.*1 unread session/);
});

test("the app's icon shows how many sessions wait, and nothing once none does", async () => {
  const setAppBadge = vi.fn(() => Promise.resolve());
  const clearAppBadge = vi.fn(() => Promise.reject(new DOMException("not installed", "NotAllowedError")));
  Object.assign(navigator, { setAppBadge, clearAppBadge });
  onTestFinished(() => {
    Reflect.deleteProperty(navigator, "setAppBadge");
    Reflect.deleteProperty(navigator, "clearAppBadge");
  });
  seen.begin("dev_two", [{ id: "", updatedAt: 7 }]);
  const { scorel, one } = world({
    dev_one: [summary("s1", "p1", "Bound the queues", asks)],
    dev_two: [summary("s3", "p2", "News", { updatedAt: 9 })],
  });
  // The count is the same in every tab, also in one that shows such a session.
  renderApp(scorel, "/d/dev_one/s/s1");
  await waitFor(() => expect(setAppBadge).toHaveBeenLastCalledWith(2));
  const cleared = clearAppBadge.mock.calls.length;
  act(() => {
    one.emit({ type: "session_updated", session: summary("s1", "p1", "Bound the queues") } as never);
    seen.markRead("dev_two", [{ id: "s3", updatedAt: 9 }]);
    seen.markRead("dev_one", [{ id: "s1", updatedAt: Number.MAX_SAFE_INTEGER }]);
  });
  await waitFor(() => expect(clearAppBadge.mock.calls.length).toBe(cleared + 1));
  expect(setAppBadge).toHaveBeenLastCalledWith(2);
});

test("a request is answered where it is listed, on its own machine, and only by a key that is meant for it", async () => {
  const { scorel, one, two } = world({
    dev_one: [summary("s1", "p1", "Bound the queues", { ...asks, updatedAt: 1 })],
    dev_two: [summary("s1", "p2", "Deploy", { ...asks, updatedAt: 2 })],
  });
  const views = [one, two].map((host, i) => {
    const session = new FakeSession("s1");
    session.patchLive({ approvals: [approval({ id: `a${i}`, title: `Run command ${i}` })] });
    host.sessions.set("s1", session);
    return session;
  });
  scorel.waiting.set([
    { clientKey: "k", deviceId: "dev_one", sessionId: "s1", text: "hi", images: 0, error: null } as never,
  ]);
  renderApp(scorel, "/");
  const [, card] = await waitFor(() => {
    const cards = screen.getAllByTestId("approval-card");
    expect(cards).toHaveLength(2);
    return cards;
  });
  const [waits] = screen.getAllByTestId("waiting-badge");
  expect(waits?.closest("[data-item]")?.textContent).toContain("Bound the queues");
  expect(screen.getByRole("button", { name: "Details of Deploy" })).toBeTruthy();
  expect(screen.getAllByTestId("approval-allow").map((button) => button.getAttribute("aria-disabled"))).toEqual([
    "true",
    "true",
  ]);
  fireEvent.click(screen.getAllByTestId("approval-allow")[0] as HTMLElement);
  fireEvent.keyDown(document.body, { key: "a" });
  fireEvent.keyDown(document.body, { key: "d" });
  fireEvent.keyDown(document.body, { key: "j" });
  expect(views.map(({ answers }) => answers)).toEqual([[], []]);

  fireEvent.keyDown(within(card as HTMLElement).getByRole("heading"), { key: "d" });
  await waitFor(() => expect(views[1]?.answers).toEqual([{ approvalId: "a1", decision: "deny" }]));
  expect(views[0]?.answers).toEqual([]);

  // The outcome stays visible for a moment, although the session no longer waits.
  act(() => {
    views[1]?.patchLive({ approvals: [] });
    two.emit({ type: "session_updated", session: summary("s1", "p2", "Deploy", { running: true }) } as never);
  });
  expect(screen.getAllByTestId("inbox-asks")).toHaveLength(2);
  expect(screen.getByText(/You denied it/)).toBeTruthy();
});

test("j and k move, e archives with undo, u marks as unread", async () => {
  const { scorel, one } = world({
    dev_one: [summary("s1", "p1", "First", { updatedAt: 20 }), summary("s2", "p1", "Second", { updatedAt: 10 })],
    dev_two: [],
  });
  renderApp(scorel, "/");
  const [first, second] = await screen.findAllByTestId("inbox-row");
  const key = (name: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key: name });
  key("j");
  expect(document.activeElement).toBe(first);
  key("j");
  expect(document.activeElement).toBe(second);
  key("k");
  expect(document.activeElement).toBe(first);
  key("u");
  expect(await screen.findByTestId("inbox-unread")).toBeTruthy();
  fireEvent.keyDown(screen.getByRole("link", { name: /First/ }), { key: "e" });
  await waitFor(() => expect(screen.queryByRole("link", { name: /First/ })).toBeNull());
  const archived = () => one.requests.filter(({ name }) => name === "update_session").map(({ fields }) => fields);
  expect(archived()).toEqual([{ sessionId: "s1", archived: true }]);
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  expect(await screen.findByRole("link", { name: /First/ })).toBeTruthy();
  expect(archived().at(-1)).toEqual({ sessionId: "s1", archived: false });
  key("?");
  expect(await screen.findByRole("dialog", { name: "Keyboard shortcuts" })).toBeTruthy();
});

test("filters narrow the lists, and can be cleared when nothing is left", async () => {
  const { scorel } = world({
    dev_one: [
      summary("s1", "p1", "First"),
      summary("s2", "p2", "Second"),
      summary("s4", "p1", "Put away", { archived: true }),
    ],
    dev_two: [summary("s3", "p1", "Third", { pinned: true })],
  });
  renderApp(scorel, "/");
  const names = () =>
    screen.queryAllByTestId("inbox-row").map((row) => row.textContent?.match(/First|Second|Third|Put away/)?.[0]);
  await waitFor(() => expect(names().sort()).toEqual(["First", "Second", "Third"]));
  const choose = (id: string, value: string) => fireEvent.change(screen.getByTestId(id), { target: { value } });
  choose("filter-machine", "dev_one");
  await waitFor(() => expect(names().sort()).toEqual(["First", "Second"]));
  choose("filter-project", "dev_one/p2");
  await waitFor(() => expect(names()).toEqual(["Second"]));
  choose("filter-state", "pinned");
  expect(await screen.findByText("No matching sessions")).toBeTruthy();
  expect(Object.fromEntries(new URLSearchParams(location.search))).toEqual({
    machine: "dev_one",
    project: "dev_one/p2",
    state: "pinned",
  });
  fireEvent.click(screen.getByRole("link", { name: "Clear filters" }));
  await waitFor(() => expect(names()).toHaveLength(3));
  choose("filter-state", "archived");
  await waitFor(() => expect(names()).toEqual(["Put away"]));
});

test("a search asks all machines, and names those that could not be asked", async () => {
  const { scorel, one, two } = world({ dev_one: [summary("s1", "p1", "First")], dev_two: [] });
  const hit = (name: string, at: number) => ({
    ...{ sessionId: "s1", projectId: "p1", name, entryId: "e7", seq: 7, role: "user", at },
    snippet: [{ text: "the keeper", found: true }],
  });
  one.handlers.search_sessions = () => ({ hits: [hit("Older", 1)] });
  two.handlers.search_sessions = () => ({ hits: [hit("Newer", 2)] });
  renderApp(scorel, "/");
  fireEvent.change(await screen.findByTestId("session-search"), { target: { value: "keeper" } });
  await waitFor(() => expect(screen.getAllByTestId("search-hit")).toHaveLength(2));
  const hits = screen.getAllByTestId("search-hit");
  expect(hits.map((each) => each.textContent)).toEqual([
    expect.stringMatching(/Newer.*attic/),
    expect.stringMatching(/Older.*workshop/),
  ]);
  expect(hits[0]?.getAttribute("href")).toMatch(/dev_two\/s\/s1\?entry=e7/);
  act(() => two.status.set("offline"));
  expect(await screen.findByText("Not searched: attic")).toBeTruthy();
});

test("a search with more hits than a machine lists says so", async () => {
  const { scorel, one } = world({ dev_one: [summary("s1", "p1", "First")], dev_two: [] });
  const at = (seq: number) => ({
    ...{ sessionId: "s1", projectId: "p1", name: "First", entryId: `e${seq}`, seq, role: "user", at: seq },
    snippet: [],
  });
  one.handlers.search_sessions = ({ limit = 0 }) => ({ hits: Array.from({ length: limit }, (_, i) => at(i)) });
  renderApp(scorel, "/");
  fireEvent.change(await screen.findByTestId("session-search"), { target: { value: "keeper" } });
  expect(await screen.findByText("The newest 50 results. Add a word to find older ones.")).toBeTruthy();
});

test("a machine that is behind is asked again until it has searched everything", async () => {
  const { scorel, one, two } = world({ dev_one: [summary("s1", "p1", "First")], dev_two: [] });
  const hit = (entryId: string) => ({
    ...{ sessionId: "s1", projectId: "p1", name: "First", entryId, seq: 7, role: "user", at: 1 },
    snippet: [{ text: "the keeper", found: true }],
  });
  const left = [2, 1, 0];
  let asked = 0;
  one.handlers.search_sessions = () => {
    const behind = left[asked++] ?? 0;
    return { hits: Array.from({ length: 3 - behind }, (_, i) => hit(`e${i}`)), behind };
  };
  two.handlers.search_sessions = vi.fn(() => ({ hits: [] }));
  renderApp(scorel, "/");
  const box = await screen.findByTestId("session-search");
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  fireEvent.change(box, { target: { value: "keeper" } });
  const pass = async (wait: number) => {
    // The page renders after each step.
    for (let left = wait; left > 0; left -= 250) {
      await act(() => vi.advanceTimersByTimeAsync(250));
    }
  };
  const shown = async (wait: number) => {
    await pass(wait);
    return screen.getAllByTestId("search-hit").length;
  };
  expect(await shown(750)).toBe(1);
  expect(screen.getByText("1 result so far; 2 sessions left to search")).toBeTruthy();
  expect(await shown(3_000)).toBe(2);
  expect(await shown(3_000)).toBe(3);
  expect(screen.getByText("3 results")).toBeTruthy();
  await pass(30_000);
  expect(asked).toBe(3);
  expect(two.handlers.search_sessions).toHaveBeenCalledTimes(1);
});

test("a machine that is too old is reported, and the others are listed", async () => {
  const { scorel, two } = world({ dev_one: [summary("s1", "p1", "First")], dev_two: [] });
  delete two.handlers.list_sessions;
  renderApp(scorel, "/");
  expect((await screen.findByTestId("inbox-error")).textContent).toMatch(/attic runs an older version.*Update scorel/);
  expect(await screen.findByRole("link", { name: /First/ })).toBeTruthy();
});

test("the seen state survives a reload, and a viewed session is read", async () => {
  const news = summary("s1", "p1", "First", { updatedAt: 10 });
  const { scorel, one } = world({ dev_one: [news], dev_two: [] });
  one.sessions.set("s1", new FakeSession("s1", { summary: news }));
  seen.begin("dev_one", [{ id: "", updatedAt: 7 }]);
  expect(isUnread(new SeenSessions().state.get(), "dev_one", news)).toBe(true);
  renderApp(scorel, "/d/dev_one/s/s1");
  await waitFor(() => expect(isUnread(seen.state.get(), "dev_one", news)).toBe(false));
  expect(isUnread(new SeenSessions().state.get(), "dev_one", news)).toBe(false);
  expect(isUnread(new SeenSessions().state.get(), "dev_one", { ...news, updatedAt: 11 })).toBe(true);
  act(() => scorel.devices.set([{ id: "dev_one", label: "workshop", online: false, revoked: true }]));
  await waitFor(() => expect(localStorage.getItem("scorel.seen")).not.toContain("dev_one"));
});

test("sessions with a dropped seen state do not become unread", () => {
  seen.begin("dev_one", [{ id: "", updatedAt: 0 }]);
  const all = Array.from({ length: 500 }, (_, i) => ({ id: `s${i}`, updatedAt: i + 1 }));
  seen.markRead("dev_one", all);
  expect(Object.keys(seen.state.get().dev_one?.sessions ?? {})).toHaveLength(400);
  expect(all.filter((each) => isUnread(seen.state.get(), "dev_one", each))).toEqual([]);
  expect(isUnread(seen.state.get(), "dev_one", { id: "s3", updatedAt: 900 })).toBe(true);
});

test("the status dots of sessions are gray while their machine is offline", async () => {
  const { scorel, one } = world({
    dev_one: [summary("s1", "p1", "Deploy", asks), summary("s2", "p1", "Other", { running: true })],
    dev_two: [],
  });
  setMedia("(min-width: 768px)", true);
  const { container } = renderApp(scorel, "/d/dev_one");
  await waitFor(() => expect(screen.getAllByText("Needs you")).toHaveLength(2));
  const lit = () => [...container.querySelectorAll("main .pulse-dot, nav a[href*='/s/'] .pulse-dot")];
  expect(lit()).toHaveLength(4);
  act(() => one.status.set("offline"));
  expect(lit()).toEqual([]);
  expect(screen.getAllByText("Needs you")).toHaveLength(2);
});
