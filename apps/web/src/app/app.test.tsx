import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { ApiError } from "../api/contract";
import { ApiKind, type Project } from "../api/types";
import { navigate } from "../features/route/history";
import { setMedia } from "./testing/browser";
import { project, summary } from "./testing/builders";
import { FakeScorel, FakeSession } from "./testing/fake-scorel";
import { dev, world } from "./testing/one-device";
import { renderApp } from "./testing/render-app";

describe("a new browser", () => {
  it("gets a code, and opens the device when it is paired", async () => {
    const scorel = new FakeScorel();
    renderApp(scorel, "/");
    await screen.findByText("Requesting a code");
    expect(location.pathname).toBe("/pair");
    await waitFor(() => expect(scorel.pairings).toHaveLength(1));
    const [pairing] = scorel.pairings;
    const showing = {
      step: "showing",
      code: "7K3M-9QXR-2BTD",
      command: "scorel pair 7K3M-9QXR-2BTD",
      expiresAt: Date.now() + 60_000,
    } as const;
    act(() => pairing?.state.set(showing));
    expect((await screen.findByTestId("pair-code")).textContent).toBe(showing.code);
    expect(screen.getByTestId("pair-command").textContent).toBe(showing.command);
    act(() => pairing?.state.set({ step: "accepting", label: "workshop" }));
    expect(screen.getByText(/Confirm this browser in the terminal/)).toBeTruthy();
    act(() => {
      scorel.devices.set([{ id: dev, label: "workshop", online: true }]);
      pairing?.state.set({ step: "done", deviceId: dev, label: "workshop" });
    });
    await waitFor(() => expect(location.pathname).toBe(`/d/${dev}`));
    expect(pairing?.canceled).toBe(false);
  });

  it("reports an expired code", async () => {
    const scorel = new FakeScorel();
    renderApp(scorel, "/pair");
    await screen.findByText("Requesting a code");
    act(() => scorel.pairings[0]?.state.set({ step: "showing", code: "X", command: "x", expiresAt: Date.now() - 1 }));
    fireEvent.click(screen.getByRole("button", { name: "Show a new code" }));
    expect(scorel.pairings).toHaveLength(2);
    expect(scorel.pairings[0]?.canceled).toBe(true);
  });

  it("redeems a typed code, and shows the sentence of a failure", async () => {
    const scorel = new FakeScorel();
    renderApp(scorel, "/pair");
    fireEvent.change(await screen.findByTestId("pair-code-input"), { target: { value: "nonsense" } });
    fireEvent.click(screen.getByTestId("pair-redeem"));
    expect(screen.getByRole("alert").textContent).toContain("not a pairing code");
    fireEvent.change(screen.getByTestId("pair-code-input"), { target: { value: "7K3M-9QXR-2BTD" } });
    fireEvent.click(screen.getByTestId("pair-redeem"));
    expect(scorel.pairings.at(-1)?.code).toBe("7K3M-9QXR-2BTD");
    act(() =>
      scorel.pairings.at(-1)?.state.set({ step: "failed", message: "This code was used already; ask for a new one." }),
    );
    expect(screen.getByText("This code was used already; ask for a new one.")).toBeTruthy();
  });

  it("redeems the code of a link automatically, once", async () => {
    const scorel = new FakeScorel();
    renderApp(scorel, "/pair", "7K3M-9QXR-2BTD");
    await screen.findByText("Looking for the machine");
    expect(scorel.pairings.map((pairing) => pairing.code)).toEqual(["7K3M-9QXR-2BTD"]);
    const name = screen.getByTestId("browser-name-input");
    fireEvent.change(name, { target: { value: "Kitchen" } });
    fireEvent.blur(name);
    expect(scorel.pairings).toHaveLength(1);
  });
});

describe("the link", () => {
  it("shows why the page cannot work", async () => {
    const scorel = new FakeScorel();
    scorel.link.set({ state: "unsupported", reason: "No secure context.", advice: "Open it over https." });
    renderApp(scorel, "/");
    expect((await screen.findByTestId("unsupported")).textContent).toContain("No secure context.Open it over https.");
  });

  it("shows a lost relay and retries on demand", async () => {
    const { scorel } = world();
    renderApp(scorel, "/");
    const light = await screen.findByTestId("link-state");
    expect(light.dataset.state).toBe("online");
    act(() =>
      scorel.link.set({ state: "connecting", attempt: 3, retryAt: Date.now() + 20_000, lastError: "no answer" }),
    );
    expect(screen.getByTestId("link-banner").textContent).toMatch(/Retrying in (20|19) s/);
    fireEvent.click(screen.getByRole("button", { name: "Try now" }));
    expect(scorel.reconnects).toBe(1);
  });
});

describe("a relay that requires an invite", () => {
  it("asks for the invite and passes it on", async () => {
    const { scorel } = world();
    renderApp(scorel, "/");
    await screen.findByTestId("link-state");
    act(() => scorel.link.set({ state: "refused", message: "Newcomers need an invite.", needsInvite: true }));
    expect((await screen.findByTestId("link-banner")).textContent).toContain("Newcomers need an invite.");
    const use = screen.getByRole("button", { name: "Join" }) as HTMLButtonElement;
    expect(use.disabled).toBe(true);
    fireEvent.change(screen.getByLabelText("Invite"), { target: { value: " 7K3M-9QXR-2BTD-0V5W " } });
    fireEvent.click(use);
    expect(scorel.invites).toEqual(["7K3M-9QXR-2BTD-0V5W"]);
  });
});

describe("devices", () => {
  it("forgets one only after a confirmation", async () => {
    const { scorel } = world();
    renderApp(scorel, "/");
    fireEvent.click(await screen.findByRole("button", { name: "Remove workshop" }));
    expect(scorel.forgotten).toEqual([]);
    fireEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Remove" }));
    await waitFor(() => expect(scorel.forgotten).toEqual([dev]));
  });
});

describe("a device", () => {
  it("shows why the sessions of a project cannot be reached", async () => {
    const why = "the database sessions on db:5432 cannot be reached";
    const { scorel } = world([project("p1", "/home/ada/scorel", { unavailable: why })]);
    renderApp(scorel, `/d/${dev}`);
    expect((await screen.findByTestId("project-unavailable")).textContent).toContain(why);
    expect(screen.getByTestId("new-session").hasAttribute("disabled")).toBe(true);
  });

  it("adds a project by browsing, and creates a session in it once", async () => {
    const projects: Project[] = [];
    const { scorel, host } = world(projects);
    host.handlers.list_dir = ({ path }) => ({
      path: path || "/home/ada",
      parent: "/home",
      entries: path
        ? []
        : [
            { name: "scorel", path: "/home/ada/scorel", git: true },
            { name: ".ssh", path: "/home/ada/.ssh", hidden: true },
          ],
    });
    host.handlers.add_project = ({ path }) => {
      const added = project("p9", path);
      projects.push(added);
      return { project: added };
    };
    let attempts = 0;
    host.handlers.create_session = () => {
      attempts++;
      if (attempts === 1) {
        throw new Error("The device cannot be reached now.");
      }
      return { session: summary("s9", "p9", "") };
    };
    host.handlers.list_agents = () => ({ agents: [] });
    host.sessions.set("s9", new FakeSession("s9", { summary: summary("s9", "p9", "") }));
    renderApp(scorel, `/d/${dev}`);
    fireEvent.click(await screen.findByTestId("add-project"));
    const entries = await screen.findAllByTestId("dir-entry");
    expect(entries.map((entry) => entry.dataset.path)).toEqual(["/home/ada/scorel"]);
    fireEvent.click(entries[0] as HTMLElement);
    await screen.findByText("No subfolders. You can use this folder.");
    await waitFor(() => expect((screen.getByTestId("choose-folder") as HTMLButtonElement).disabled).toBe(false));
    fireEvent.click(screen.getByTestId("choose-folder"));
    await screen.findByTestId("project-row");
    fireEvent.click(screen.getByTestId("new-session"));
    const composer = await screen.findByTestId("composer");
    expect(host.requests.map(({ name }) => name)).not.toContain("create_session");
    fireEvent.change(composer, { target: { value: "hello" } });
    fireEvent.keyDown(composer, { key: "Enter" });
    await screen.findByText("Starting the session…");
    await waitFor(() => expect(attempts).toBe(1));
    await act(async () => host.newSessions.goLive());
    await waitFor(() => expect(location.pathname).toBe(`/d/${dev}/s/s9`));
    expect(host.session("s9").sent).toEqual(["hello"]);
    const keys = host.requests
      .filter((each) => each.name === "create_session")
      .map((each) => (each.fields as { clientKey: string }).clientKey);
    expect(new Set(keys).size).toBe(1);
  });

  it("shows the host's sentence when a folder cannot be used", async () => {
    const { scorel, host } = world();
    host.handlers.list_dir = () => {
      throw new ApiError(ApiKind.invalid_path, "There is no folder /nope; choose one that exists.");
    };
    renderApp(scorel, `/d/${dev}`);
    fireEvent.click(await screen.findByTestId("add-project"));
    expect((await screen.findByRole("alert")).textContent).toBe(
      "There is no folder /nope; choose one that exists. Help",
    );
  });

  it("notifies the host that a person sees the list", async () => {
    const { scorel, host } = world(undefined, [summary("s1", "p1", "A name")]);
    const asked: unknown[] = [];
    host.handlers.list_sessions = (request) => {
      asked.push(request);
      return { sessions: [summary("s1", "p1", "A name")] };
    };
    renderApp(scorel, `/d/${dev}`);
    await screen.findByText("A name");
    expect(asked).toContainEqual({ projectId: "p1", limit: 50, watching: true });
  });

  it("links from the sidebar to the sessions that do not fit there", async () => {
    const all = Array.from({ length: 23 }, (_, i) => summary(`s${i}`, "p1", `Name ${i}`, { updatedAt: 1000 - i }));
    const { scorel, host } = world([project("p1", "/home/ada/scorel"), project("p2", "/home/ada/lamps")], all);
    host.sessions.set("s0", new FakeSession("s0", { summary: all[0] ?? null }));
    setMedia("(min-width: 768px)", true);
    renderApp(scorel, `/d/${dev}/s/s0`);
    const more = await screen.findByTestId("sidebar-all");
    expect(more.textContent).toBe("Show all 23 sessions");
    expect(within(screen.getByRole("navigation")).queryByText("Name 8")).toBeNull();
    fireEvent.click(more);
    await waitFor(() => expect(location.pathname).toBe(`/d/${dev}`));
    await waitFor(() => expect(screen.getAllByTestId("session-row")).toHaveLength(23));
  });

  it("begins no session by a click, however often", async () => {
    const { scorel, host } = world();
    host.handlers.list_agents = () => ({ agents: [] });
    setMedia("(min-width: 768px)", true);
    renderApp(scorel, `/d/${dev}`);
    const [sidebar] = await screen.findAllByRole("button", { name: "New session in scorel" });
    for (let i = 0; i < 3; i++) {
      fireEvent.click(sidebar as HTMLElement);
    }
    await screen.findByTestId("composer");
    expect(location.search).toBe("?project=p1");
    expect(host.requests.map(({ name }) => name)).not.toContain("create_session");
  });

  it("is restored on return, with opened parts and searches", async () => {
    const all = Array.from({ length: 23 }, (_, i) => summary(`s${i}`, "p1", `Name ${i}`, { updatedAt: 1000 - i }));
    const { scorel, host } = world(undefined, all);
    host.sessions.set("s20", new FakeSession("s20", { summary: all[20] ?? null }));
    renderApp(scorel, `/d/${dev}`);
    fireEvent.click(await screen.findByText("Show all 23 sessions"));
    const scroll = (top: number) => {
      const main = screen.getByRole("main");
      main.scrollTop = top;
      fireEvent.scroll(main);
    };
    scroll(700);
    fireEvent.click(screen.getByText("Name 20"));
    await screen.findByTestId("composer");
    // The arrow does the same as the browser's Back button, and does not open the page a second time.
    fireEvent.click(screen.getByRole("link", { name: "Back" }));
    await waitFor(() => expect(screen.getAllByTestId("session-row")).toHaveLength(23));
    expect(location.pathname).toBe(`/d/${dev}`);
    expect(history.state).toMatchObject({ index: 0 });
    expect(screen.getByRole("main").scrollTop).toBe(700);
    fireEvent.change(screen.getByTestId("session-search"), { target: { value: "Name" } });
    scroll(0);
    act(() => navigate("/connection"));
    await screen.findByRole("heading", { name: "Connection" });
    history.back();
    await waitFor(() => expect((screen.getByTestId("session-search") as HTMLInputElement).value).toBe("Name"));
    expect(screen.getByRole("main").scrollTop).toBe(0);
  });

  it("follows the host's events", async () => {
    const { scorel, host } = world(undefined, [summary("s1", "p1", "Old name")]);
    renderApp(scorel, `/d/${dev}`);
    await screen.findByText("Old name");
    act(() =>
      host.emit({ type: "session_updated", session: summary("s1", "p1", "New name", { waitingApproval: true }) }),
    );
    expect(await screen.findByText("New name")).toBeTruthy();
    expect(screen.getByTestId("session-row").textContent).toContain("Needs you");
    act(() => host.emit({ type: "projects_changed", projects: [] }));
    expect(await screen.findByText("No projects yet")).toBeTruthy();
  });

  it.each([
    ["offline", "offline-notice", "workshop is offline"],
    ["revoked", "revoked-notice", "Pair again"],
  ] as const)("is shown as %s", async (status, id, text) => {
    const { scorel, host } = world();
    host.status.set(status);
    renderApp(scorel, `/d/${dev}`);
    expect((await screen.findByTestId(id)).textContent).toContain(text);
    expect(screen.queryByTestId("new-session")).toBeNull();
  });
});
