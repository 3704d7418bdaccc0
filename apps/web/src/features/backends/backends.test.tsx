import "../../app/testing/browser";
import { fireEvent, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Backend } from "../../api/types";
import { hostInfo, project, summary } from "../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";

const program = (name: string, more: Partial<Backend> = {}): Backend => ({
  ...{ name, title: name.toUpperCase(), command: name, path: `/bin/${name}` },
  ...more,
});

function open(path: string, backends: Backend[], backend?: string) {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: "dev_one", label: "workshop", online: true }]);
  const host = scorel.host("dev_one");
  const listed = summary("s1", "p1", "A session", backend ? { backend } : {});
  host.handlers.get_host = () => ({ host: hostInfo({ grants: ["view", "prompt", "manage"] }) });
  host.handlers.list_projects = () => ({ projects: [project("p1", "/home/ada/lamps")] });
  host.handlers.list_sessions = () => ({ sessions: [listed] });
  host.handlers.list_clients = () => ({ clients: [] });
  host.handlers.list_backends = () => ({ backends });
  host.sessions.set("s1", new FakeSession("s1", { summary: listed }));
  renderApp(scorel, `/d/dev_one${path}`);
}

const options = async (id: string) =>
  [...(await screen.findByTestId(id)).querySelectorAll("option")].map(({ textContent, disabled }) =>
    disabled ? `${textContent}, disabled` : textContent,
  );

test("programs that this browser may not use are disabled, with the reason and what changes it", async () => {
  open("/new?project=p1", [
    program("claude"),
    program("opencode", { denied: "needs_bypass" }),
    program("pi", { path: "", denied: "needs_bypass" }),
  ]);
  expect(await options("start-backend")).toEqual(["scorel agent", "CLAUDE", "OPENCODE (not allowed), disabled"]);
  fireEvent.click(screen.getByTestId("why-denied"));
  const sheet = within(await screen.findByRole("dialog"));
  expect(sheet.getByText("OPENCODE may act without asking, which this browser cannot allow.")).toBeTruthy();
  expect(sheet.getByText(/\[backends\.opencode\]\s+asks = true/)).toBeTruthy();
  expect(sheet.queryByText(/PI may/)).toBeNull();
});

test("a session keeps showing its program, also one that this browser may not use", async () => {
  open("/s/s1", [program("claude"), program("opencode", { denied: "needs_bypass" })], "opencode");
  await screen.findByText("CLAUDE");
  expect(await options("session-backend")).toEqual(["scorel agent", "CLAUDE", "OPENCODE (not allowed), disabled"]);
  expect((screen.getByTestId("session-backend") as HTMLSelectElement).value).toBe("opencode");
});

test("a host that does not say what may be used offers all programs", async () => {
  open("/s/s1", [program("claude"), program("opencode")]);
  expect(await options("session-backend")).toEqual(["scorel agent", "CLAUDE", "OPENCODE"]);
  expect(screen.queryByTestId("why-denied")).toBeNull();
});
