import "../../app/testing/browser";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import type { MCPServer, Requests } from "../../api/types";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { domainOf, linkOf } from "../shared/link";
import { ServerSignIn } from "./ServerSignIn";

const server = (more: Partial<MCPServer>): MCPServer => ({
  ...{ name: "docs", source: "servers.json", transport: "http", shown: "", url: "https://docs.example/mcp" },
  ...{ state: "needs_sign_in", tools: [], signIn: { state: "needed" } },
  ...more,
});

type Ended = Requests["await_mcp_sign_in"]["response"];

function show(given: MCPServer, url = "https://login.example/authorize") {
  const host = new FakeScorel().host("dev_one");
  const said: string[] = [];
  let end: (ended: Ended) => void = () => {};
  const ended = new Promise<Ended>((resolve) => {
    end = resolve;
  });
  host.handlers.sign_in_mcp_server = () => ({
    ...{ signInId: "s1", url, issuer: "https://login.example", scopes: ["read"] },
    ...{ redirect: "http://127.0.0.1:9/callback", expiresAt: 1 },
  });
  host.handlers.await_mcp_sign_in = () => ended;
  host.handlers.finish_mcp_sign_in = () => ({});
  host.handlers.sign_out_mcp_server = () => ({ server: given });
  render(
    <ServerSignIn
      host={host}
      server={given}
      mayLoosen
      onChanged={async (what) => {
        said.push(what);
      }}
    />,
  );
  const asked = (name: keyof Requests) => host.requests.filter((r) => r.name === name).map(({ fields }) => fields);
  return { said, asked, end };
}

test("a sign-in opens the shown domain, takes a pasted address, and says when it is done", async () => {
  const { said, asked, end } = show(server({}));
  fireEvent.click(screen.getByTestId("mcp-login"));
  const link = await screen.findByTestId("mcp-sign-in-link");
  expect(link.getAttribute("href")).toBe("https://login.example/authorize");
  expect(link.textContent).toContain("login.example");
  expect(link.getAttribute("rel")).toContain("noopener");
  fireEvent.change(screen.getByTestId("mcp-sign-in-address"), { target: { value: "http://127.0.0.1:9/callback?x" } });
  fireEvent.submit(screen.getByTestId("mcp-sign-in-steps"));
  await waitFor(() => expect(asked("finish_mcp_sign_in")).toHaveLength(1));
  expect(asked("finish_mcp_sign_in")[0]).toEqual({ signInId: "s1", address: "http://127.0.0.1:9/callback?x" });
  end({ ended: true });
  await waitFor(() => expect(said).toEqual(["Signed in to docs."]));
});

test("a failed sign-in says why, and can be started again", async () => {
  const { said, end } = show(server({}));
  fireEvent.click(screen.getByTestId("mcp-login"));
  await screen.findByTestId("mcp-sign-in-link");
  end({ ended: true, problem: "login.example refused: access_denied" });
  expect((await screen.findByTestId("mcp-sign-in-problem")).textContent).toContain("access_denied");
  expect(screen.getByTestId("mcp-login")).toBeTruthy();
  expect(said).toEqual([]);
});

test("a link that is not safe is not offered", async () => {
  show(server({}), "javascript:alert(1)");
  fireEvent.click(screen.getByTestId("mcp-login"));
  expect((await screen.findByRole("alert")).textContent).toContain("not safe");
  expect(screen.queryByTestId("mcp-sign-in-link")).toBeNull();
});

test("signing out asks the host, and a server without a sign-in shows nothing", async () => {
  const { said, asked } = show(
    server({ state: "ready", signIn: { state: "signed_in", issuer: "https://login.example", scopes: ["read"] } }),
  );
  expect(screen.queryByTestId("mcp-login")).toBeNull();
  fireEvent.click(screen.getByTestId("mcp-logout"));
  await waitFor(() => expect(said).toEqual(["Signed out of docs."]));
  expect(asked("sign_out_mcp_server")).toEqual([{ name: "docs" }]);
});

test("links are of https, or of http on this machine", () => {
  for (const good of ["https://a.example/x?y=1", "http://127.0.0.1:9/", "http://localhost:9/", "http://[::1]:9/"]) {
    expect(linkOf(good)).toBe(good);
  }
  for (const bad of [
    "http://a.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///x",
    "ms-x:y",
    "https://u:p@a.example/",
    "",
  ]) {
    expect(linkOf(bad)).toBeNull();
  }
  expect(domainOf("https://login.example/x")).toBe("login.example");
});
