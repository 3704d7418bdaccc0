import "../../app/testing/browser";
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { type AgentInfo, ApiKind } from "../../api/types";
import { hostInfo, project, summary } from "../../app/testing/builders";
import { type FakeHost, FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";
import { rememberModel } from "../shared/model-memory";

const dev = "dev_one";
const agent = (name: string, more: Partial<AgentInfo> = {}) =>
  ({ name, scope: "user", description: name, enabled: true, offered: true, prompt: "", ...more }) as AgentInfo;

function open(agents: AgentInfo[] = [], search = "?project=p1", change: (host: FakeHost) => void = () => {}) {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: dev, label: "workshop", online: true }]);
  const host = scorel.host(dev);
  host.handlers.get_host = () => ({ host: hostInfo({ maxMode: "bypass" }) });
  host.handlers.list_projects = () => ({ projects: [project("p1", "/home/ada/lamps")] });
  host.handlers.list_sessions = () => ({ sessions: [] });
  host.handlers.list_clients = () => ({ clients: [] });
  host.handlers.list_agents = () => ({ agents });
  host.handlers.create_session = () => ({ session: summary("s1", "p1", "") });
  host.handlers.set_mode = () => ({});
  host.sessions.set("s1", new FakeSession("s1", { summary: summary("s1", "p1", "") }));
  change(host);
  const app = renderApp(scorel, `/d/${dev}/new${search}`);
  const asked = (name: string) => host.requests.filter((each) => each.name === name).map((each) => each.fields);
  return { ...app, host, asked };
}

async function send(text: string) {
  const composer = (await screen.findByTestId("composer")) as HTMLTextAreaElement;
  fireEvent.change(composer, { target: { value: text } });
  fireEvent.keyDown(composer, { key: "Enter" });
  return composer;
}

const choose = (id: string, value: string) => fireEvent.change(screen.getByTestId(id), { target: { value } });

test("a session begins with its prompt and the chosen agent, model and permissions", async () => {
  const { host, asked } = open([agent("reviewer"), agent("off", { enabled: false })]);
  await screen.findByTestId("start-agent");
  expect([...screen.getByTestId("start-agent").querySelectorAll("option")].map((each) => each.textContent)).toEqual([
    "Default agent",
    "reviewer",
  ]);
  expect(screen.queryByText("Bypass permissions")).toBeNull();
  choose("start-agent", "reviewer");
  choose("start-mode", "plan");
  fireEvent.change(screen.getByLabelText("Model"), { target: { value: "demo" } });
  expect(asked("create_session")).toEqual([]);
  await send("hello");
  await waitFor(() => expect(location.pathname).toBe(`/d/${dev}/s/s1`));
  expect(asked("create_session")).toMatchObject([{ projectId: "p1", agent: "reviewer", model: "demo" }]);
  expect(asked("set_mode")).toEqual([{ sessionId: "s1", mode: "plan" }]);
  expect(host.session("s1").sent).toEqual(["hello"]);
});

test("without agents there is no choice, and the one of the address is used", async () => {
  const { asked } = open([], "?project=p1&agent=reviewer");
  await screen.findByTestId("start-mode");
  expect((screen.getByTestId("start-agent") as HTMLSelectElement).value).toBe("reviewer");
  await send("hello");
  await waitFor(() => expect(asked("create_session")).toMatchObject([{ projectId: "p1", agent: "reviewer" }]));
});

test("a prompt waits for an unreachable machine, and can be withdrawn", async () => {
  const { host } = open();
  act(() => host.newSessions.goOffline());
  await send("hello");
  await screen.findByText("Starting the session…");
  fireEvent.click(screen.getByTestId("edit-start"));
  await waitFor(() => expect((screen.getByTestId("composer") as HTMLTextAreaElement).value).toBe("hello"));
  expect(host.newSessions.state.get()).toEqual([]);
});

test("a prompt is visible, and another can be written, before an offline machine has sent its projects", async () => {
  const { host } = open([], "?project=p1", (each) => {
    each.handlers.list_projects = () => new Promise(() => {});
    each.status.set("offline");
    each.newSessions.goOffline();
    each.newSessions.begin({ projectId: "p1" }, "written before");
  });
  await screen.findByText("written before");
  expect(screen.getByTestId("message-state").textContent).toContain("Waiting for workshop");
  fireEvent.click(screen.getByRole("button", { name: "Discard" }));
  await send("written after");
  await waitFor(() => expect(host.newSessions.state.get()).toMatchObject([{ text: "written after" }]));
});

test("a rejected prompt stays with its reason", async () => {
  const { host } = open();
  const create = host.handlers.create_session;
  host.handlers.create_session = () => Promise.reject(new ApiError(ApiKind.unknown_model, "There is no model big."));
  await send("hello");
  await screen.findByText("Not sent: There is no model big.");
  expect((screen.getByTestId("composer") as HTMLTextAreaElement).disabled).toBe(false);
  if (create) {
    host.handlers.create_session = create;
  }
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(location.pathname).toBe(`/d/${dev}/s/s1`));
});

test("an address without a project leads nowhere", async () => {
  open([], "?project=gone");
  expect(await screen.findByText("Project not found")).toBeTruthy();
});

test("the page opens the session that has begun, even after the list of waiting ones is shown without it", async () => {
  let tell = () => {};
  const { host } = open([], undefined, ({ newSessions }) => {
    const begun = newSessions.begun.bind(newSessions);
    newSessions.begun = async (clientKey) => {
      const sessionId = await begun(clientKey);
      await new Promise<void>((resolve) => {
        tell = resolve;
      });
      return sessionId;
    };
  });
  await send("hello");
  await waitFor(() => expect(host.session("s1").sent).toEqual(["hello"]));
  await screen.findByText("What should the agent do?");
  act(() => tell());
  await waitFor(() => expect(location.pathname).toBe(`/d/${dev}/s/s1`));
});

test("a session begins, and the page opens it, before a reconnected machine has sent its projects", async () => {
  const { host } = open([], undefined, (each) => {
    each.handlers.list_projects = () => new Promise(() => {});
    each.status.set("offline");
    each.newSessions.goOffline();
    each.newSessions.begin({ projectId: "p1" }, "written before");
  });
  await screen.findByText("written before");
  act(() => host.status.set("open"));
  await screen.findByLabelText("Loading the project");
  act(() => host.newSessions.goLive());
  await waitFor(() => expect(location.pathname).toBe(`/d/${dev}/s/s1`));
});

test("the model that was chosen last is used for every new session of the machine, also after a reload", async () => {
  const first = open();
  await screen.findByTestId("start-mode");
  fireEvent.change(screen.getByLabelText("Model"), { target: { value: "demo" } });
  first.unmount();
  const { asked } = open([], "?project=p1");
  await waitFor(() => expect((screen.getByLabelText("Model") as HTMLSelectElement).value).toBe("demo"));
  await send("hello");
  await waitFor(() => expect(asked("create_session")).toMatchObject([{ projectId: "p1", model: "demo" }]));
});

test("a remembered model yields to an agent's own, and to the default if the machine no longer has it", async () => {
  rememberModel(dev, "demo");
  const { asked, unmount } = open([agent("reviewer", { model: "main" })], "?project=p1&agent=reviewer");
  await screen.findByTestId("start-agent");
  expect((screen.getByLabelText("Model") as HTMLSelectElement).value).toBe("main");
  await send("hello");
  await waitFor(() => expect(asked("create_session")).toHaveLength(1));
  expect(asked("create_session")[0]).not.toHaveProperty("model");
  unmount();
  rememberModel(dev, "gone");
  const later = open();
  await screen.findByTestId("start-mode");
  expect((screen.getByLabelText("Model") as HTMLSelectElement).value).toBe("main");
  await send("hello");
  await waitFor(() => expect(later.asked("create_session")).toHaveLength(1));
  expect(later.asked("create_session")[0]).not.toHaveProperty("model");
});

test("sending three times begins one session", async () => {
  let answer: () => void = () => {};
  const { asked, host } = open([], undefined, (each) => {
    each.handlers.create_session = () =>
      new Promise((resolve) => {
        answer = () => resolve({ session: summary("s1", "p1", "") });
      });
  });
  const composer = await send("hello");
  const button = screen.getByTestId("send");
  fireEvent.keyDown(composer, { key: "Enter" });
  fireEvent.click(button);
  await waitFor(() => expect(asked("create_session")).toHaveLength(1));
  // While one is beginning nothing else can be sent, and the page says so.
  fireEvent.change(composer, { target: { value: "hello again" } });
  fireEvent.keyDown(composer, { key: "Enter" });
  fireEvent.click(button);
  expect(screen.getByText("Starting the session…")).toBeTruthy();
  act(() => answer());
  await waitFor(() => expect(location.pathname).toBe(`/d/${dev}/s/s1`));
  expect(asked("create_session")).toHaveLength(1);
  expect(host.session("s1").sent).toEqual(["hello"]);
});

test("a session can begin in its own worktree", async () => {
  const { asked } = open([], "?project=p1", (host) => {
    host.handlers.create_session = () => ({
      session: summary("s1", "p1", "", { worktree: { folder: "/w/1", branch: "scorel/1", base: "abc" } }),
    });
  });
  const where = (await screen.findByTestId("start-worktree")) as HTMLSelectElement;
  expect(where.value).toBe("");
  choose("start-worktree", "worktree");
  await screen.findByText(/Uncommitted changes are not taken along/);
  await send("hello");
  await waitFor(() => expect(location.pathname).toBe(`/d/${dev}/s/s1`));
  expect(asked("create_session")).toMatchObject([{ projectId: "p1", worktree: true }]);
});
