import "../../../app/testing/browser";
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import type { HostInfo } from "../../../api/types";
import { hostInfo, summary } from "../../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../../app/testing/fake-scorel";
import { renderApp } from "../../../app/testing/render-app";

async function open(info: Partial<HostInfo> = {}) {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: "dev_one", label: "workshop", online: true }]);
  const host = scorel.host("dev_one");
  const listed = summary("s1", "p1", "A session", { mode: "ask" });
  host.handlers.get_host = () => ({ host: hostInfo({ maxMode: "auto", ...info }) });
  host.handlers.list_projects = () => ({ projects: [] });
  host.handlers.list_sessions = () => ({ sessions: [listed] });
  host.handlers.list_clients = () => ({ clients: [] });
  const session = new FakeSession("s1", { summary: listed });
  host.sessions.set("s1", session);
  renderApp(scorel, "/d/dev_one/s/s1");
  await screen.findByTestId("composer");
  const asked = (name: string) => host.requests.filter((each) => each.name === name).map((each) => each.fields);
  await waitFor(() => expect(asked("get_host")).toHaveLength(1));
  await act(async () => {});
  return { host, session, listed, asked };
}

const choice = (mode: string) => screen.getByTestId(`mode-${mode}`) as HTMLButtonElement;

test("the mode is visible, and another one is chosen from the menu", async () => {
  const { host, listed, asked } = await open();
  const shown = screen.getByTestId("session-mode");
  expect(shown.textContent).toBe("Permissions: Ask first");
  host.handlers.set_mode = ({ mode }) => {
    host.emit({ type: "session_updated", session: { ...listed, mode } });
    return {};
  };
  fireEvent.click(shown);
  await screen.findByTestId("mode-ask");
  expect(choice("ask").getAttribute("aria-pressed")).toBe("true");
  fireEvent.click(choice("accept-edits"));
  await waitFor(() => expect(screen.queryByTestId("mode-ask")).toBeNull());
  expect(asked("set_mode")).toEqual([{ sessionId: "s1", mode: "accept-edits" }]);
  expect(screen.getByTestId("session-mode").textContent).toBe("Permissions: Auto-accept edits");
});

test("modes above this browser's limit cannot be chosen, and an error is shown", async () => {
  await open();
  fireEvent.click(screen.getByTestId("session-mode"));
  await screen.findByTestId("mode-ask");
  expect(choice("bypass").disabled).toBe(true);
  expect(screen.getByText(/can choose up to “Auto”/)).toBeTruthy();
  fireEvent.click(choice("auto"));
  expect((await screen.findByRole("alert")).textContent).toContain("does not know set_mode");
});

test.each<[string, Partial<HostInfo>, boolean, RegExp]>([
  ["without the grant", { grants: ["view", "prompt", "approve"] }, true, /cannot change permissions/],
  ["while the machine is away", {}, false, /is not reachable/],
])("no mode can be chosen %s", async (_, info, live, why) => {
  const { session } = await open(info);
  if (!live) {
    act(() => session.patch({ status: "offline" }));
  }
  fireEvent.click(screen.getByTestId("session-mode"));
  await screen.findByTestId("mode-ask");
  for (const mode of ["plan", "ask", "accept-edits", "auto", "bypass"]) {
    expect(choice(mode).disabled).toBe(true);
  }
  expect(screen.getByText(why)).toBeTruthy();
});

test("bypass needs a confirmation after a warning", async () => {
  const { host, asked } = await open({ maxMode: "bypass" });
  host.handlers.set_mode = () => ({});
  fireEvent.click(screen.getByTestId("session-mode"));
  await screen.findByTestId("mode-ask");
  fireEvent.click(choice("bypass"));
  expect(screen.getByText("The agent will no longer ask")).toBeTruthy();
  expect(asked("set_mode")).toEqual([]);
  fireEvent.click(screen.getByTestId("mode-bypass-confirm"));
  await waitFor(() => expect(asked("set_mode")).toEqual([{ sessionId: "s1", mode: "bypass" }]));
});

test("a session is deleted after a confirmation, and kept after an error", async () => {
  const { host, session, asked } = await open();
  act(() => void session.send("still here"));
  fireEvent.click(screen.getByTestId("session-menu"));
  fireEvent.click(await screen.findByTestId("delete-session"));
  expect(asked("delete_session")).toEqual([]);
  fireEvent.click(await screen.findByRole("button", { name: "Delete permanently" }));
  expect((await screen.findByRole("alert")).textContent).toContain("does not know delete_session");
  expect(session.discarded).toEqual([]);
  host.handlers.delete_session = () => ({});
  fireEvent.click(screen.getByRole("button", { name: "Delete permanently" }));
  await waitFor(() => expect(location.pathname).toBe("/d/dev_one"));
  expect(asked("delete_session").at(-1)).toEqual({ sessionId: "s1" });
  expect(session.discarded).toHaveLength(1);
});

test("a browser that may not delete gets an explanation", async () => {
  await open({ grants: ["view", "prompt"] });
  fireEvent.click(screen.getByTestId("session-menu"));
  expect(((await screen.findByTestId("delete-session")) as HTMLButtonElement).disabled).toBe(true);
  expect(screen.getByText(/cannot delete sessions/)).toBeTruthy();
});
