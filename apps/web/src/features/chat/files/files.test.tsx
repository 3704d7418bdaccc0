import "../../../app/testing/browser";
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../../api/contract";
import { ApiKind, type FoundFile } from "../../../api/types";
import { hostInfo, project, summary } from "../../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../../app/testing/fake-scorel";
import { renderApp } from "../../../app/testing/render-app";
import { visible } from "../../shared/visible";
import { fileQuery, inOrder, mention, withPath } from "./files";
import "./FileMenu";

const all: FoundFile[] = [
  { path: "docs", kind: "folder" },
  { path: "apps/web/client.ts", kind: "file" },
  { path: "docs/read me.md", kind: "file" },
];

async function open(path = "/d/dev_one/s/s1", info = hostInfo()) {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: "dev_one", label: "workshop", online: true }]);
  const host = scorel.host("dev_one");
  const listed = summary("s1", "p1", "A session");
  host.handlers.get_host = () => ({ host: info });
  host.handlers.list_projects = () => ({ projects: [project("p1", "api")] });
  host.handlers.list_sessions = () => ({ sessions: [listed] });
  host.handlers.list_clients = () => ({ clients: [] });
  host.handlers.list_agents = () => ({ agents: [] });
  host.handlers.find_files = ({ query = "" }) => ({ files: all.filter((file) => inOrder(query, file.path)) });
  const session = new FakeSession("s1", { summary: listed });
  host.sessions.set("s1", session);
  renderApp(scorel, path);
  const area = (await screen.findByTestId("composer")) as HTMLTextAreaElement;
  await waitFor(() => expect(area.disabled).toBe(false));
  const type = (value: string) => fireEvent.change(area, { target: { value } });
  const press = (key: string) => fireEvent.keyDown(area, { key });
  const shows = (...want: string[]) =>
    waitFor(() => expect(screen.queryAllByTestId("file-option").map((each) => each.textContent)).toEqual(want));
  const asked = () => host.requests.filter(({ name }) => name === "find_files").map(({ fields }) => fields);
  return { host, session, area, type, press, shows, asked };
}

test("an @ offers files of the session's folder; the keys choose among them", async () => {
  const { session, area, type, press, shows, asked } = await open();
  type("look at @");
  await shows("docs/", "client.tsapps/web/", "read me.mddocs/");
  expect(asked()).toEqual([{ sessionId: "s1", query: "" }]);
  type("look at @cli");
  await shows("client.tsapps/web/");
  await waitFor(() => {
    const active = area.getAttribute("aria-activedescendant");
    expect(active && document.getElementById(active)?.textContent).toContain("client.ts");
  });
  expect(screen.getByRole("listbox").id).toBe(area.getAttribute("aria-controls"));
  press("Enter");
  expect(area.value).toBe("look at @apps/web/client.ts ");
  expect(area.selectionStart).toBe(area.value.length);
  expect(screen.queryByTestId("file-menu")).toBeNull();
  press("Enter");
  expect(session.sent).toEqual(["look at @apps/web/client.ts"]);
});

test("a folder is opened in the list, and a path with spaces is quoted", async () => {
  const { area, type, press, shows } = await open();
  type("@doc");
  await shows("docs/", "read me.mddocs/");
  press("Tab");
  expect(area.value).toBe("@docs/");
  await shows("read me.mddocs/");
  fireEvent.click(screen.getByTestId("file-option"));
  expect(area.value).toBe('@"docs/read me.md" ');
});

test("Escape closes the list of this name, and an @ in a word opens none", async () => {
  const { session, type, press, shows } = await open();
  type("@c");
  await shows("docs/", "client.tsapps/web/", "read me.mddocs/");
  press("Escape");
  expect(screen.queryByTestId("file-menu")).toBeNull();
  type("@cl");
  expect(screen.queryByTestId("file-menu")).toBeNull();
  type("@cl and @d");
  await shows("docs/", "read me.mddocs/");
  type("mail ann@example.com");
  expect(screen.queryByTestId("file-menu")).toBeNull();
  press("Enter");
  expect(session.sent).toEqual(["mail ann@example.com"]);
});

test("a new session offers the files of its project", async () => {
  const { type, shows, asked } = await open("/d/dev_one/new?project=p1");
  type("@client");
  await shows("client.tsapps/web/");
  expect(asked()).toEqual([{ projectId: "p1", query: "client" }]);
});

test("the list says why it is empty", async () => {
  const { host, type } = await open();
  type("@zzz");
  expect(await screen.findByText("No file or resource matches “zzz”.")).toBeTruthy();
  host.handlers.find_files = () => {
    throw new ApiError(ApiKind.unknown_request, "unknown request find_files");
  };
  type("@yyy");
  expect(await screen.findByText(/Update scorel on this machine/)).toBeTruthy();
  act(() => host.status.set("offline"));
  expect(await screen.findByText(/when the machine is back/)).toBeTruthy();
});

test("a browser without the grant gets an explanation, and sends no request", async () => {
  const { type, asked } = await open(undefined, hostInfo({ grants: ["view", "prompt"] }));
  type("@a");
  expect(await screen.findByText(/may not list files/)).toBeTruthy();
  expect(asked()).toEqual([]);
});

test("the typed part of a path is found before the caret", () => {
  const found = (text: string) => {
    const [before = "", after = ""] = text.split("|");
    return fileQuery(before + after, before.length)?.query ?? null;
  };
  expect(["@|", "see @a/b.c|", "(@x|)", '@"my f|"', "看看@客|", "@a| b", "@x|yz"].map(found)).toEqual([
    "",
    "a/b.c",
    "x",
    "my f",
    "客",
    "a",
    null,
  ]);
  expect(["a@b|", "@a b|", '"@a"|', `@${"x".repeat(100)}|`, "|@a"].map(found)).toEqual([null, null, null, null, null]);
});

test("a path replaces the typed part, and the caret follows it", () => {
  expect([mention("a.c"), mention("a b.c")]).toEqual(["@a.c", '@"a b.c"']);
  expect(withPath("see @a, then", 6, 4, "lib/a.c", false)).toEqual({ text: "see @lib/a.c , then", caret: 13 });
  expect(withPath("see @a then", 6, 4, "lib/a.c", false)).toEqual({ text: "see @lib/a.c then", caret: 13 });
  expect(withPath("@m", 2, 0, "my dir", true)).toEqual({ text: '@"my dir/"', caret: 9 });
  expect(withPath('@"my dir/"', 9, 0, "my dir/x", false)).toEqual({ text: '@"my dir/x" ', caret: 12 });
});

test("resources of MCP servers are offered behind the files", async () => {
  const { host, area, type, press, shows } = await open();
  host.handlers.list_mcp_offers = () => ({
    resources: [
      { server: "rooms", uri: "doc://client-rules", name: "rules", title: "House\u202e rules" },
      { server: "rooms", uri: "doc://other", name: "other" },
    ],
    prompts: [],
  });
  type("look at @cli and more");
  area.setSelectionRange(12, 12);
  fireEvent.select(area);
  await shows("client.tsapps/web/", `House${visible("\u202e")} rulesrooms:doc://client-rulesResource`);
  press("ArrowDown");
  press("Enter");
  expect(area.value).toBe("look at @rooms:doc://client-rules and more");
  expect(area.selectionStart).toBe("look at @rooms:doc://client-rules".length + 1);
});
