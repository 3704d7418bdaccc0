import "../../app/testing/browser";
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { SessionSummary } from "../../api/types";
import { hostInfo, project, summary } from "../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";
import { runtimeContext } from "../../app/testing/runtime-context";

const dev = "dev_one";

function world(...sessions: SessionSummary[]) {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: dev, label: "workshop", online: true }]);
  const host = scorel.host(dev);
  const known = new Map(sessions.map((session) => [session.id, session]));
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects: [project("p1", "/home/ada/scorel")] });
  host.handlers.list_clients = () => ({ clients: [] });
  host.handlers.list_sessions = ({ archived }) => {
    const listed = [...known.values()].filter((each) => (each.archived ?? false) === (archived === "only"));
    return { sessions: listed, total: listed.length };
  };
  host.handlers.get_snapshot = ({ sessionId }) => {
    const session = known.get(sessionId) as SessionSummary;
    return { session, leafId: "e1", entries: 3, live: new FakeSession("x").state.get().live, runtimeContext };
  };
  host.handlers.update_session = ({ sessionId, title: _, meta, ...fields }) => {
    const before = known.get(sessionId) as SessionSummary;
    const kept = Object.entries({ ...before.meta, ...meta }).filter(([, value]) => value !== "");
    const session = { ...before, ...fields, meta: Object.fromEntries(kept) };
    known.set(sessionId, session);
    return { session };
  };
  for (const session of sessions) {
    host.sessions.set(session.id, new FakeSession(session.id, { summary: session }));
  }
  return { scorel, host };
}

const rows = () => screen.queryAllByTestId("session-row").map((row) => row.textContent ?? "");

async function openMenu(title: string) {
  fireEvent.click(await screen.findByRole("button", { name: `Details of ${title}` }));
  return within(await screen.findByRole("dialog"));
}

const old = summary("s1", "p1", "Old lamps", { updatedAt: Date.now() - 9_000_000 });
const fresh = summary("s2", "p1", "New lamps");

describe("a session in the list", () => {
  it("comes first once it is pinned, with a mark", async () => {
    const { scorel } = world(old, fresh);
    renderApp(scorel, `/d/${dev}`);
    await screen.findByText("Old lamps");
    expect(rows().map((row) => row.slice(0, 9))).toEqual(["New lamps", "Old lamps"]);
    fireEvent.click((await openMenu("Old lamps")).getByRole("button", { name: "Pin" }));
    await waitFor(() => expect(rows()[0]).toContain("Pinned: Old lamps"));
    expect((await openMenu("Old lamps")).getByRole("button", { name: "Unpin" })).toBeTruthy();
  });

  it("is marked as unread and read", async () => {
    const { scorel } = world(old, fresh);
    renderApp(scorel, `/d/${dev}`);
    await screen.findByText("Old lamps");
    fireEvent.click((await openMenu("Old lamps")).getByRole("button", { name: "Mark as unread" }));
    fireEvent.click((await openMenu("Old lamps")).getByRole("button", { name: "Mark as read" }));
    expect((await openMenu("Old lamps")).getByRole("button", { name: "Mark as unread" })).toBeTruthy();
    expect(location.pathname).toBe(`/d/${dev}`);
  });

  it("moves to the archive, and back", async () => {
    const { scorel } = world(old, fresh);
    renderApp(scorel, `/d/${dev}`);
    fireEvent.click((await openMenu("Old lamps")).getByRole("button", { name: "Archive" }));
    await waitFor(() => expect(rows()).toHaveLength(1));
    fireEvent.click(screen.getByRole("link", { name: "Archived" }));
    await waitFor(() => expect(rows()[0]).toContain("Old lamps"));
    fireEvent.click((await openMenu("Old lamps")).getByRole("button", { name: "Unarchive" }));
    await screen.findByText("No archived sessions.");
    fireEvent.click(screen.getByRole("link", { name: "Active" }));
    await waitFor(() => expect(rows()).toHaveLength(2));
  });

  it("opens a terminal in its worktree while that exists", async () => {
    const worktree = { folder: "/home/ada/.scorel-worktrees/lamps/1", branch: "scorel/1", base: "abc" };
    const { scorel } = world({ ...old, worktree }, { ...fresh, worktree: { ...worktree, removed: true } });
    renderApp(scorel, `/d/${dev}`);
    let menu = await openMenu("Old lamps");
    expect(menu.getByTestId("session-terminal").getAttribute("href")).toContain("session=s1");
    fireEvent.click(menu.getByRole("button", { name: "Close" }));
    menu = await openMenu("New lamps");
    expect(menu.getByTestId("session-terminal").getAttribute("href")).not.toContain("session=");
  });

  it("shows what happened to its worktree when it is archived", async () => {
    const worktree = { folder: "/home/ada/.scorel-worktrees/lamps/1", branch: "scorel/1", base: "abc" };
    const { scorel, host } = world({ ...old, worktree }, fresh);
    host.handlers.update_session = () => ({
      session: { ...old, archived: true, worktree: { ...worktree, kept: "uncommitted" } },
    });
    renderApp(scorel, `/d/${dev}`);
    const menu = await openMenu("Old lamps");
    expect(menu.getByTestId("session-worktree").textContent).toContain("scorel/1");
    fireEvent.click(menu.getByRole("button", { name: "Archive" }));
    await screen.findByText("Session archived. Worktree kept: it has changes that are not committed.");
  });

  it("is renamed, and the reason is shown where its name is rejected", async () => {
    const { scorel, host } = world(fresh);
    const refuse = { reason: "" };
    host.handlers.rename_session = ({ name }) => {
      if (refuse.reason) {
        throw new Error(refuse.reason);
      }
      host.emit({ type: "session_updated", session: { ...fresh, name } });
      return {};
    };
    renderApp(scorel, `/d/${dev}`);
    const menu = await openMenu("New lamps");
    const rename = menu.getByRole("button", { name: "Rename" }) as HTMLButtonElement;
    const type = (value: string) => fireEvent.change(menu.getByLabelText("Name"), { target: { value } });
    expect(rename.disabled).toBe(true);
    type("  ");
    fireEvent.click(rename);
    await menu.findByText("Enter a name.");
    refuse.reason = "the disk is full";
    type("Lamps of the hall");
    fireEvent.click(rename);
    await menu.findByText("The disk is full");
    refuse.reason = "";
    fireEvent.click(rename);
    await waitFor(() => expect(rows()[0]).toContain("Lamps of the hall"));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("follows the changes of another client", async () => {
    const { scorel, host } = world(old, fresh);
    renderApp(scorel, `/d/${dev}`);
    await screen.findByText("Old lamps");
    act(() => host.emit({ type: "session_updated", session: { ...old, pinned: true } }));
    await waitFor(() => expect(rows()[0]).toContain("Pinned: Old lamps"));
    act(() => host.emit({ type: "session_updated", session: { ...fresh, archived: true } }));
    await waitFor(() => expect(rows()).toHaveLength(1));
    act(() => host.emit({ type: "session_updated", session: fresh }));
    await waitFor(() => expect(rows()).toHaveLength(2));
  });

  it("does not change when the machine refuses, and shows why", async () => {
    const { scorel, host } = world(fresh);
    host.handlers.update_session = () => Promise.reject(new Error("the disk is full"));
    renderApp(scorel, `/d/${dev}`);
    const menu = await openMenu("New lamps");
    fireEvent.click(menu.getByRole("button", { name: "Archive" }));
    expect((await menu.findByRole("alert")).textContent).toBe("The disk is full");
    expect(rows()).toHaveLength(1);
  });
});

describe("the details of a session", () => {
  const opened = async (
    session: SessionSummary,
    change: (host: ReturnType<typeof world>["host"]) => void = () => {},
  ) => {
    const { scorel, host } = world(session);
    change(host);
    renderApp(scorel, `/d/${dev}/s/${session.id}`);
    fireEvent.click(await screen.findByTestId("session-menu"));
    return { host, sheet: within(await screen.findByRole("dialog")) };
  };

  it("show the context of the next prompt", async () => {
    const { sheet } = await opened(fresh);
    const context = await sheet.findByTestId("session-context");
    await within(context).findByText("31.4K of 128K tokens");
    expect(context.textContent).toContain("main (local, qwen3-coder)");
    for (const text of ["System prompt (4)", "Instructions", "Skills", "Tools (3)", "bash", "Messages (4)"]) {
      expect(context.textContent).toContain(text);
    }
    expect(within(context).getByText("Tool result: bash")).toBeTruthy();
    expect(context.textContent).toContain("12 earlier messages are not listed.");
  });

  it("show why the context is missing", async () => {
    const { sheet } = await opened(fresh, (host) => {
      host.handlers.get_snapshot = () => Promise.reject(new Error("the session file is damaged"));
    });
    await sheet.findByText("The session file is damaged");
  }, 30_000);

  it("add and remove metadata", async () => {
    const { host, sheet } = await opened({ ...fresh, meta: { ticket: "OPS-12" } });
    expect(sheet.getByTestId("session-meta").textContent).toContain("OPS-12");
    fireEvent.click(sheet.getByRole("button", { name: "Add metadata" }));
    fireEvent.change(sheet.getByLabelText("Key"), { target: { value: "branch" } });
    fireEvent.change(sheet.getByLabelText("Value"), { target: { value: "lamps" } });
    fireEvent.click(sheet.getByRole("button", { name: "Add" }));
    await sheet.findByText("lamps");
    fireEvent.click(sheet.getByRole("button", { name: "Remove ticket" }));
    await waitFor(() => expect(sheet.queryByText("OPS-12")).toBeNull());
    const updates = host.requests.filter(({ name }) => name === "update_session").map(({ fields }) => fields);
    expect(updates).toEqual([
      { sessionId: "s2", meta: { branch: "lamps" } },
      { sessionId: "s2", meta: { ticket: "" } },
    ]);
  });

  it("offer no change to a browser that may only view", async () => {
    const { sheet } = await opened(fresh, (host) => {
      host.handlers.get_host = () => ({ host: hostInfo({ grants: ["view"] }) });
    });
    await sheet.findByText("This browser has view-only access to sessions.");
    expect(sheet.queryByTestId("pin-session")).toBeNull();
    expect(sheet.queryByTestId("add-meta")).toBeNull();
  });
});
