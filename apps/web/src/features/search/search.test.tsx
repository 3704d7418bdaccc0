import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Requests } from "../../api/types";
import { setInSight } from "../../app/testing/browser";
import { assistant, hostInfo, project, summary, user } from "../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";
// Loaded before a test's fake clock runs.
import "./FindBar";

const dev = "dev_one";

function world() {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: dev, label: "workshop", online: true }]);
  const host = scorel.host(dev);
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects: [project("p1", "/home/ada/scorel")] });
  host.handlers.list_sessions = () => ({ sessions: [summary("s1", "p1", "Lamps")] });
  host.handlers.list_clients = () => ({ clients: [] });
  host.handlers.search_sessions = () => ({
    hits: [
      {
        sessionId: "s1",
        projectId: "p1",
        name: "Lamps",
        entryId: "e2",
        seq: 2,
        role: "assistant",
        at: Date.now(),
        snippet: [{ text: "the " }, { text: "lamp", found: true }, { text: " is lit" }],
      },
    ],
    behind: 3,
  });
  return { scorel, host };
}

describe("a search", () => {
  it("shows the hits, and opens the entry", async () => {
    const { scorel, host } = world();
    const question = user("light it", { id: "e1", parentId: null });
    const answer = { ...assistant("the lamp is lit"), id: "e2", parentId: "e1" };
    const entries = [question, answer];
    host.sessions.set("s1", new FakeSession("s1", { entries }));
    renderApp(scorel, `/d/${dev}`);
    const box = (await screen.findAllByTestId("session-search")).at(-1) as HTMLElement;
    fireEvent.change(box, { target: { value: "lam" } });
    const hit = await screen.findByTestId("search-hit");
    expect(host.requests.find((each) => each.name === "search_sessions")?.fields).toEqual({ query: "lam*", limit: 30 });
    expect(hit.querySelector("mark")?.textContent).toBe("lamp");
    expect(hit.textContent).toContain("Agent: the lamp is lit");
    expect(screen.getByText("1 result so far; 3 sessions left to search")).toBeTruthy();
    expect(screen.queryByTestId("session-row")).toBeNull();
    fireEvent.click(hit);
    await waitFor(() => expect(location.pathname).toBe(`/d/${dev}/s/s1`));
    expect(location.search).toBe("?entry=e2");
    await waitFor(() => expect(document.querySelector('[data-row="e2"]')?.className).toContain("bg-accent-soft"));
  });

  it("shows older hits when asked, each once, and keeps the focus", async () => {
    const { scorel, host } = world();
    const found = Array.from({ length: 70 }, (_, i) => ({
      ...{
        sessionId: `s${i}`,
        projectId: "p1",
        name: `Session ${i}`,
        entryId: "e1",
        seq: 1,
        role: "user",
        at: 1e12 - i,
      },
      snippet: [{ text: "lamp", found: true }],
    }));
    let shift = 0; // a message came in the meantime
    host.handlers.search_sessions = ({ skip = 0, limit = 0 }) => {
      const from = Math.max(0, skip - shift);
      return { hits: found.slice(from, from + limit), ...(from + limit < found.length ? { more: true } : {}) };
    };
    renderApp(scorel, `/d/${dev}`);
    const box = (await screen.findAllByTestId("session-search")).at(-1) as HTMLElement;
    fireEvent.change(box, { target: { value: "lamp" } });
    const older = await screen.findByTestId("older-hits");
    expect(screen.getByText("The newest 30 results")).toBeTruthy();
    shift = 1;
    older.focus();
    fireEvent.click(older);
    await screen.findByText("The newest 59 results");
    expect(document.activeElement).toBe(older);
    fireEvent.click(older);
    await screen.findByText("70 results");
    expect(screen.queryByTestId("older-hits")).toBeNull();
    const links = screen.getAllByTestId("search-hit");
    expect(links.map((link) => link.textContent?.match(/Session (\d+)/)?.[1])).toEqual(found.map((_, i) => String(i)));
    expect(document.activeElement).toBe(links.at(-1));
  });

  it("shows why there is no answer, and returns to the list", async () => {
    const { scorel, host } = world();
    host.handlers.search_sessions = () => Promise.reject(new Error("The index is away."));
    renderApp(scorel, `/d/${dev}`);
    const box = (await screen.findAllByTestId("session-search")).at(-1) as HTMLElement;
    fireEvent.change(box, { target: { value: "lamp" } });
    await screen.findByText("The index is away.");
    fireEvent.keyDown(box, { key: "Escape" });
    expect((box as HTMLInputElement).value).toBe("");
    await screen.findByTestId("session-row");
  });

  it("loads a distant entry, shows the entries around it, and returns to the end", async () => {
    const { scorel, host } = world();
    const last = user("the end", { id: "e9", parentId: "e8" });
    const session = new FakeSession("s1", { entries: [last], earlier: "some" });
    session.seekWith = "here";
    host.sessions.set("s1", session);
    renderApp(scorel, `/d/${dev}/s/s1?entry=e2`);
    await waitFor(() => expect(session.soughtFor).toEqual(["e2"]));
    const entries = [user("light it", { id: "e1", parentId: null }), user("and again", { id: "e2", parentId: "e1" })];
    const aside = user("elsewhere", { id: "e3", parentId: "e1" });
    const place = { entries: [...entries, aside], tip: "e2", earlier: "none", later: "some" } as const;
    act(() => session.patch({ place: { ...place, entries: [...place.entries] } }));
    await waitFor(() => expect(document.querySelector('[data-row="e2"]')?.className).toContain("bg-accent-soft"));
    expect(screen.queryByText("the end")).toBeNull();
    expect(screen.queryByText("elsewhere")).toBeNull();
    expect(screen.getByTestId("later")).toBeTruthy();
    fireEvent.click(screen.getByTestId("to-latest"));
    await screen.findByText("the end");
    expect(session.soughtFor).toEqual(["e2"]);
  });

  it("loads later entries while the end of a range is in view", async () => {
    const { scorel, host } = world();
    const session = new FakeSession("s1", {
      entries: [user("the end", { id: "e9", parentId: "e8" })],
      earlier: "some",
    });
    session.seekWith = "here";
    host.sessions.set("s1", session);
    renderApp(scorel, `/d/${dev}/s/s1?entry=e1`);
    await waitFor(() => expect(session.soughtFor).toEqual(["e1"]));
    setInSight("[data-testid=later]");
    const entries = [user("light it", { id: "e1", parentId: null })];
    act(() => session.patch({ place: { entries, tip: "e1", earlier: "none", later: "some" } }));
    await waitFor(() => expect(session.fetchedLater).toBe(1));
    const more = [...entries, user("and again", { id: "e2", parentId: "e1" })];
    act(() => {
      session.patch({ place: { entries, tip: "e1", earlier: "none", later: "loading" } });
      session.patch({ place: { entries: more, tip: "e2", earlier: "none", later: "some" } });
    });
    await waitFor(() => expect(session.fetchedLater).toBe(2));
  });

  it.each([
    ["elsewhere", "This message is on another branch of the session."],
    ["missing", "This message is no longer in the session."],
    ["failed", /could not be loaded/],
  ] as const)("reports that the entry is %s", async (sought, text) => {
    const { scorel, host } = world();
    const session = new FakeSession("s1", { entries: [user("later", { id: "e9", parentId: null })], earlier: "some" });
    session.seekWith = sought;
    host.sessions.set("s1", session);
    renderApp(scorel, `/d/${dev}/s/s1?entry=e2`);
    await screen.findByText(text);
  });
});

describe("a search in one session", () => {
  const hit = (entryId: string, seq: number, role = "user") =>
    ({ ...{ sessionId: "s1", projectId: "p1", name: "Lamps", entryId, seq, role, at: seq }, snippet: [] }) as never;

  function open(answer: Requests["search_sessions"]["response"]) {
    const { scorel, host } = world();
    const entries = [user("first lamp"), user("nothing"), user("second lamp"), user("third lamp")];
    const ids = entries.map((entry, i) => ({ ...entry, id: `e${i}`, parentId: i === 0 ? null : `e${i - 1}` }));
    host.sessions.set("s1", new FakeSession("s1", { summary: summary("s1", "p1", "Lamps"), entries: ids }));
    host.handlers.search_sessions = () => answer;
    renderApp(scorel, `/d/${dev}/s/s1`);
    return { host, entry: () => new URLSearchParams(location.search).get("entry") };
  }

  it("counts all matches and moves between them", async () => {
    const { host, entry } = open({ hits: [hit("n", 5, "name"), hit("e3", 4), hit("e2", 3), hit("e0", 1)], total: 4 });
    await screen.findByTestId("open-find");
    const before = screen.getByTestId("open-find");
    before.focus();
    fireEvent.keyDown(document.body, { key: "/" });
    const field = await screen.findByTestId("find-text");
    fireEvent.change(field, { target: { value: "lamp" } });
    await waitFor(() => expect(screen.getByTestId("find-count").textContent).toBe("3 results"));
    expect(host.requests.find(({ name }) => name === "search_sessions")?.fields).toEqual({
      ...{ query: "lamp*", sessionId: "s1", limit: 1000 },
    });
    const go = async (key: object, place: string, entryId: string) => {
      fireEvent.keyDown(field, { key: "Enter", ...key });
      await waitFor(() => expect(screen.getByTestId("find-count").textContent).toBe(place));
      expect(entry()).toBe(entryId);
    };
    await go({}, "3 of 3", "e3");
    await go({}, "2 of 3", "e2");
    await go({ shiftKey: true }, "3 of 3", "e3");
    await go({ shiftKey: true }, "1 of 3", "e0");
    fireEvent.keyDown(field, { key: "Escape", isComposing: true });
    expect(screen.getByTestId("find")).toBeTruthy();
    field.focus();
    fireEvent.keyDown(field, { key: "Escape" });
    expect(screen.queryByTestId("find")).toBeNull();
    expect(document.activeElement).toBe(before);
  });

  it("reports a machine that cannot search one session", async () => {
    open({ hits: [hit("e3", 4)] });
    fireEvent.click(await screen.findByTestId("open-find"));
    fireEvent.change(await screen.findByTestId("find-text"), { target: { value: "lamp" } });
    await screen.findByText("Update scorel on this machine to search one session.");
    expect(screen.getByRole("button", { name: "Next result" }).hasAttribute("disabled")).toBe(true);
  });
});
