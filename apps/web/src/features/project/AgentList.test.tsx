import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import type { AgentInfo, Project } from "../../api/types";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { applyHostEvent } from "../shared/host-queries";
import { AgentList } from "./AgentList";
import { draftOf } from "./agent-draft";

vi.mock("../shared/use-start-session", () => ({ useStartSession: () => create }));
const create = vi.fn();

const agents: AgentInfo[] = [
  { name: "explore", scope: "builtin", description: "Looks", tools: [], enabled: true, offered: true, prompt: "Look." },
  { name: "mine", scope: "user", version: "v1", description: "Mine", enabled: false, offered: false, prompt: "Do." },
];

function show() {
  const scorel = new FakeScorel();
  const host = scorel.host("dev_one");
  const saved: unknown[] = [];
  host.handlers.list_agents = () => ({ agents, notes: ["a file is left out"] });
  host.handlers.save_agent = (request) => {
    saved.push(request);
    return { agent: agents[0] as AgentInfo };
  };
  render(
    <QueryClientProvider client={new QueryClient()}>
      <AgentList host={host} project={{ id: "p1", name: "site", path: "/site" } as Project} mayManage />
    </QueryClientProvider>,
  );
  return saved;
}

test("lists agents with their limits, enables them, and starts a session as one", async () => {
  const saved = show();
  const [explore, mine] = (await screen.findAllByTestId("agent")) as [HTMLElement, HTMLElement];
  expect(explore.textContent).toContain("Tools: none");
  expect(mine.textContent).toContain("Tools: all");
  expect(screen.getByTestId("agent-notes").textContent).toBe("a file is left out");
  fireEvent.click(within(explore).getByTestId("agent-session"));
  expect(create).toHaveBeenCalledWith("p1", "explore");
  expect(within(mine).queryByTestId("agent-session")).toBeNull();
  fireEvent.click(within(mine).getByTestId("agent-toggle"));
  await waitFor(() => expect(saved).toHaveLength(1));
  expect(saved[0]).toMatchObject({
    scope: "user",
    name: "mine",
    version: "v1",
    agent: { enabled: true, prompt: "Do." },
  });
});

test("a built-in agent is saved as a file of the project", async () => {
  const saved = show();
  const explore = (await screen.findAllByTestId("agent"))[0] as HTMLElement;
  fireEvent.click(within(explore).getByTestId("agent-edit"));
  fireEvent.change(screen.getByLabelText("Model calls per task"), { target: { value: "7" } });
  fireEvent.click(screen.getByTestId("agent-save"));
  await waitFor(() => expect(saved).toHaveLength(1));
  expect(saved[0]).toMatchObject({
    scope: "project",
    projectId: "p1",
    name: "explore",
    agent: { tools: [], maxTurns: 7 },
  });
  expect(saved[0]).not.toHaveProperty("version");
});

test("an absent list means all, an empty one none", () => {
  const fields = { description: "d", model: "", disallowedTools: "", subagents: "", maxTurns: "x", maxConcurrent: "" };
  expect(draftOf({ ...fields, tools: "all", prompt: "" }, null)).toEqual({
    description: "d",
    prompt: "",
    enabled: true,
    maxTurns: -1,
  });
  expect(draftOf({ ...fields, tools: "none", prompt: "" }, null).tools).toEqual([]);
  expect(draftOf({ ...fields, tools: " a, b(c) ,", prompt: "" }, null).tools).toEqual(["a", "b(c)"]);
});

test("reloads the agents when the host reports a change", async () => {
  const host = new FakeScorel().host("dev_one");
  const client = new QueryClient();
  let listed = agents;
  host.handlers.list_agents = () => ({ agents: listed });
  render(
    <QueryClientProvider client={client}>
      <AgentList host={host} project={{ id: "p1", name: "site", path: "/site" } as Project} mayManage />
    </QueryClientProvider>,
  );
  expect(await screen.findAllByTestId("agent")).toHaveLength(2);
  listed = agents.slice(1);
  applyHostEvent(client, "dev_one", { type: "agents_changed" });
  await waitFor(() => expect(screen.getAllByTestId("agent")).toHaveLength(1));
});

test("what is being edited stays when others change or delete the agent, and says so", async () => {
  const host = new FakeScorel().host("dev_one");
  const client = new QueryClient();
  const saved: unknown[] = [];
  let listed = agents;
  host.handlers.list_agents = () => ({ agents: listed });
  host.handlers.save_agent = (request) => {
    saved.push(request);
    return { agent: agents[0] as AgentInfo };
  };
  render(
    <QueryClientProvider client={client}>
      <AgentList host={host} project={{ id: "p1", name: "site", path: "/site" } as Project} mayManage />
    </QueryClientProvider>,
  );
  fireEvent.click(within((await screen.findAllByTestId("agent"))[1] as HTMLElement).getByTestId("agent-edit"));
  const prompt = () => screen.getByTestId<HTMLTextAreaElement>("agent-prompt-text");
  fireEvent.change(prompt(), { target: { value: "A long text" } });
  expect(screen.queryByTestId("agent-elsewhere")).toBeNull();
  listed = agents.map((agent) => (agent.name === "mine" ? { ...agent, version: "v2", prompt: "Theirs" } : agent));
  applyHostEvent(client, "dev_one", { type: "agents_changed" });
  expect((await screen.findByTestId("agent-elsewhere")).textContent).toContain("was changed elsewhere");
  expect(prompt().value).toBe("A long text");
  listed = agents.slice(0, 1);
  applyHostEvent(client, "dev_one", { type: "agents_changed" });
  await waitFor(() => expect(screen.getByTestId("agent-elsewhere").textContent).toContain("was deleted elsewhere"));
  expect(prompt().value).toBe("A long text");
  expect(screen.queryByTestId("agent-delete")).toBeNull();
  fireEvent.click(screen.getByTestId("agent-save"));
  await waitFor(() => expect(saved).toHaveLength(1));
  expect(saved[0]).toMatchObject({ scope: "user", name: "mine", agent: { prompt: "A long text" } });
  expect(saved[0]).not.toHaveProperty("version");
});
