import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind, type HostInfo, type MCPServer, type Requests } from "../../api/types";
import { hostInfo } from "../../app/testing/builders";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { ServerList } from "./ServerList";
import { draftOf, fieldsOf } from "./server-draft";

const server = (name: string, more: Partial<MCPServer> = {}): MCPServer => ({
  ...{ name, source: "servers.json", transport: "stdio", shown: name, command: name, state: "idle", tools: [] },
  version: "r1",
  ...more,
});

function show(servers: MCPServer[], grants: HostInfo["grants"], projectId?: string) {
  const host = new FakeScorel().host("dev_one");
  host.handlers.list_mcp_servers = () => ({ servers: [...servers] });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <ServerList host={host} info={hostInfo({ grants })} {...(projectId ? { projectId } : {})} />
    </QueryClientProvider>,
  );
  const asked = (name: keyof Requests) =>
    host.requests.filter((each) => each.name === name).map(({ fields }) => fields);
  return { host, servers, asked };
}

const all: HostInfo["grants"] = ["view", "approve", "manage", "shell"];
const type = (box: HTMLElement, value: string) => fireEvent.change(box, { target: { value } });

test("a server is added with its arguments and variables, and errors are shown", async () => {
  const { host, servers, asked } = show([], all);
  let refuse = true;
  host.handlers.save_mcp_server = ({ name }) => {
    if (refuse) {
      throw new ApiError(ApiKind.bad_request, '"a b" is not a name');
    }
    servers.push(server(name));
    return { server: server(name) };
  };
  fireEvent.click(await screen.findByTestId("mcp-add"));
  const form = screen.getByTestId("mcp-form");
  type(screen.getByTestId("mcp-name"), "docs");
  type(screen.getByTestId("mcp-command"), "npx");
  type(screen.getByTestId("mcp-args"), "-y\n@example/docs\n");
  fireEvent.click(screen.getByTestId("mcp-add-value"));
  type(screen.getByLabelText("Name 1"), "TOKEN");
  type(screen.getByLabelText("Value of TOKEN"), "hush");
  fireEvent.submit(form);
  expect((await screen.findByRole("alert")).textContent).toContain("is not a name");
  expect((screen.getByTestId("mcp-command") as HTMLInputElement).value).toBe("npx");
  refuse = false;
  fireEvent.submit(form);
  await screen.findByText("Saved the server docs. Sessions use it from their next turn on.");
  expect(asked("save_mcp_server").at(-1)).toEqual({
    name: "docs",
    server: { command: "npx", args: ["-y", "@example/docs"], cwd: "", env: [{ name: "TOKEN", value: "hush" }] },
  });
});

test("a change keeps hidden values", async () => {
  const env = [
    { name: "TOKEN", value: "", secret: true },
    { name: "LEVEL", value: "info" },
  ];
  const { host, asked } = show([server("docs", { env })], all, "p1");
  host.handlers.save_mcp_server = ({ name }) => ({ server: server(name) });
  fireEvent.click(await screen.findByTestId("mcp-edit"));
  type(screen.getByLabelText("Value of LEVEL"), "debug");
  fireEvent.submit(screen.getByTestId("mcp-form"));
  await waitFor(() => expect(asked("save_mcp_server")).toHaveLength(1));
  expect(asked("save_mcp_server")[0]).toEqual({
    ...{ projectId: "p1", name: "docs", version: "r1" },
    server: {
      ...{ command: "docs", args: [], cwd: "" },
      env: [
        { name: "TOKEN", keep: true },
        { name: "LEVEL", value: "debug" },
      ],
    },
  });
});

test("a test shows the tools, or what is wrong", async () => {
  const { host } = show([server("docs")], all);
  let answer: Requests["test_mcp_server"]["response"] = { tools: [{ name: "search", description: "Searches." }] };
  host.handlers.test_mcp_server = () => answer;
  fireEvent.click(await screen.findByTestId("mcp-test"));
  expect((await screen.findByTestId("mcp-tested")).textContent).toBe("It works and has 1 tool.searchSearches.");
  answer = { tools: [], problem: "it exited" };
  fireEvent.click(screen.getByTestId("mcp-test"));
  expect((await screen.findByTestId("mcp-problem")).textContent).toBe("Not working: it exited");
  expect(screen.queryByTestId("mcp-tested")).toBeNull();
});

test("a server is disabled, enabled and removed", async () => {
  const { host, servers, asked } = show([server("docs")], all, "p1");
  host.handlers.set_mcp_server_enabled = ({ enabled }) => {
    servers[0] = server("docs", enabled ? {} : { state: "disabled", disabled: true });
    return { server: servers[0] };
  };
  host.handlers.delete_mcp_server = () => {
    servers.length = 0;
    return {};
  };
  fireEvent.click(await screen.findByRole("button", { name: "Disable docs" }));
  fireEvent.click(await screen.findByRole("button", { name: "Enable docs" }));
  await screen.findByRole("button", { name: "Disable docs" });
  expect(asked("set_mcp_server_enabled")).toEqual([
    { projectId: "p1", name: "docs", enabled: false },
    { projectId: "p1", name: "docs", enabled: true },
  ]);
  fireEvent.click(screen.getByRole("button", { name: "Remove docs" }));
  const sheet = within(await screen.findByRole("dialog"));
  fireEvent.click(sheet.getByRole("button", { name: "Remove" }));
  await screen.findByText("No servers.");
  expect(asked("delete_mcp_server")).toEqual([{ projectId: "p1", name: "docs", version: "r1" }]);
});

test("without the grant nothing can be added or changed here, and the page explains how", async () => {
  show([server("docs")], ["view", "manage"]);
  await screen.findByRole("button", { name: "Disable docs" });
  for (const testId of ["mcp-add", "mcp-edit", "mcp-test"]) {
    expect(screen.queryByTestId(testId)).toBeNull();
  }
  expect(screen.getByText(/or run scorel mcp add there/)).toBeTruthy();
});

test("a server that waits for consent is not tested or disabled", async () => {
  show([server("docs", { source: ".mcp.json", state: "needs_consent", hash: "h" })], all, "p1");
  await screen.findByTestId("mcp-allow");
  expect(screen.queryByTestId("mcp-test")).toBeNull();
  expect(screen.queryByTestId("mcp-toggle")).toBeNull();
});

test("an address has headers, and no command", () => {
  const fields = { ...fieldsOf(server("docs")), kind: "url" as const, url: " https://mcp.example " };
  expect(draftOf(fields)).toEqual({ url: "https://mcp.example", headers: [] });
});
