import "../../../app/testing/browser";
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../../api/contract";
import { ApiKind } from "../../../api/types";
import { hostInfo, project, summary } from "../../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../../app/testing/fake-scorel";
import { renderApp } from "../../../app/testing/render-app";
import { matching, slashQuery } from "./slash";
import "./SlashMenu";

const agent = (name: string, change = {}) => ({
  ...{ name, scope: "user" as const, description: `About ${name}`, enabled: true, offered: true, prompt: "" },
  ...change,
});

async function open(path: string) {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: "dev_one", label: "workshop", online: true }]);
  const host = scorel.host("dev_one");
  const listed = summary("s1", "p1", "A session");
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects: [project("p1", "api")] });
  host.handlers.list_sessions = () => ({ sessions: [listed] });
  host.handlers.list_clients = () => ({ clients: [] });
  host.handlers.list_agents = () => ({
    agents: [agent("reviewer"), agent("resting", { offered: false }), agent("off", { enabled: false })],
  });
  host.handlers.list_skills = () => ({
    skills: [
      { name: "release", description: "Makes a release", scope: "project" },
      { name: "prerelease", description: "Makes another", scope: "user", manual: true },
    ],
  });
  const session = new FakeSession("s1", { summary: listed });
  host.sessions.set("s1", session);
  renderApp(scorel, path);
  const area = (await screen.findByTestId("composer")) as HTMLTextAreaElement;
  await waitFor(() => expect(area.disabled).toBe(false));
  const type = (value: string) => fireEvent.change(area, { target: { value } });
  const press = (key: string) => fireEvent.keyDown(area, { key });
  const names = () => screen.queryAllByTestId("slash-option").map((each) => each.firstChild?.textContent);
  const shows = (...want: string[]) => waitFor(() => expect(names()).toEqual(want));
  return { host, session, area, type, press, shows };
}

test("a slash offers commands, skills and agents; the keys choose among them", async () => {
  const { session, area, type, press, shows } = await open("/d/dev_one/s/s1");
  type("/");
  await shows("/compact", "/release", "/prerelease", "reviewer");
  expect(screen.getByTestId("slash-menu").querySelector("[aria-selected=true]")?.textContent).toContain("/compact");
  type("/rel");
  await shows("/release", "/prerelease");
  press("ArrowDown");
  await waitFor(() => {
    const active = area.getAttribute("aria-activedescendant");
    expect(active && document.getElementById(active)?.textContent).toContain("/prerelease");
  });
  press("ArrowDown");
  press("Enter");
  expect(area.value).toBe("/release ");
  expect(screen.queryByTestId("slash-menu")).toBeNull();
  type("/release now");
  press("Enter");
  expect(session.sent).toEqual(["/release now"]);
});

test("Escape closes the menu until another slash begins, and a complete name is sent", async () => {
  const { session, type, press, shows } = await open("/d/dev_one/s/s1");
  type("/r");
  await shows("/release", "reviewer", "/prerelease");
  press("Escape");
  expect(screen.queryByTestId("slash-menu")).toBeNull();
  type("/re");
  expect(screen.queryByTestId("slash-menu")).toBeNull();
  type("");
  type("/release");
  await shows("/release", "/prerelease");
  press("Enter");
  expect(session.sent).toEqual(["/release"]);
});

test("an agent gets a task in a session, and runs a new one", async () => {
  const { area, type, shows } = await open("/d/dev_one/s/s1");
  type("/rev");
  await shows("reviewer");
  fireEvent.click(screen.getByTestId("slash-option"));
  expect(area.value).toBe("Ask the reviewer subagent to ");
});

test("an agent that is chosen before a session begins runs it", async () => {
  const { area, type, shows } = await open("/d/dev_one/new?project=p1");
  type("/");
  await shows("/release", "/prerelease", "reviewer", "resting");
  fireEvent.click(screen.getByText("reviewer", { selector: "[data-testid=slash-option] *" }));
  expect(area.value).toBe("");
  expect((screen.getByTestId("start-agent") as HTMLSelectElement).value).toBe("reviewer");
});

test("an older host offers its commands and agents, and the menu says what is missing", async () => {
  const { host, type, shows } = await open("/d/dev_one/s/s1");
  host.handlers.list_skills = () => {
    throw new ApiError(ApiKind.unknown_request, "unknown request list_skills");
  };
  type("/");
  await shows("/compact", "reviewer");
  expect((await screen.findByText(/Update scorel on this machine/)).tagName).toBe("P");
});

test("only a name after a slash is searched for", () => {
  expect(["/", "/a-1", "/etc/hosts", "/a b", " /a", "/A", "a/", ""].map(slashQuery)).toEqual([
    ...["", "a-1", null, null, null, "A", null, null],
  ]);
  const items = ["xb", "b", "c"].map((name) => ({ kind: "skill" as const, name, about: "" }));
  expect(matching(items, "b").map(({ name }) => name)).toEqual(["b", "xb"]);
});

test("prompts of MCP servers are offered behind the rest, with their arguments", async () => {
  const { host, session, area, type, press, shows } = await open("/d/dev_one/s/s1");
  host.handlers.list_mcp_offers = () => ({
    resources: [],
    prompts: [
      {
        server: "rooms",
        command: "mcp__rooms__tidy",
        name: "tidy",
        description: "Tidies a room",
        arguments: [{ name: "room", required: true }, { name: "style" }],
      },
    ],
  });
  type("/mcp__R");
  await shows("/mcp__rooms__tidy");
  expect(screen.getByTestId("slash-option").textContent).toBe("/mcp__rooms__tidyroom [style] · Tidies a roomPrompt");
  press("Enter");
  expect(area.value).toBe("/mcp__rooms__tidy ");
  type("/mcp__rooms__tidy kitchen");
  press("Enter");
  expect(session.sent).toEqual(["/mcp__rooms__tidy kitchen"]);
});
