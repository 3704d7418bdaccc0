import "../../app/testing/browser";
import { act, fireEvent, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { WaitingPrompt } from "../../api/contract";
import { setMedia } from "../../app/testing/browser";
import { hostInfo, project, summary } from "../../app/testing/builders";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";

const dev = "dev_one";

const prompt = (clientKey: string, more: Partial<WaitingPrompt> = {}): WaitingPrompt => ({
  ...{
    clientKey,
    deviceId: dev,
    projectId: "p1",
    sessionId: "s1",
    text: `text of ${clientKey}`,
    images: 0,
    error: null,
  },
  ...more,
});

function world() {
  const scorel = new FakeScorel();
  scorel.devices.set([
    { id: dev, label: "workshop", online: true },
    { id: "dev_two", label: "attic", online: true },
  ]);
  const host = scorel.host(dev);
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects: [project("p1", "/home/ada/lamps")] });
  host.handlers.list_sessions = () => ({ sessions: [summary("s1", "p1", "First"), summary("s2", "p1", "Second")] });
  host.handlers.list_clients = () => ({ clients: [] });
  return { scorel, host };
}

const badges = (within_: HTMLElement) =>
  within(within_)
    .queryAllByTestId("waiting-badge")
    .map((each) => each.title);

test("a waiting prompt is shown on the row of its machine, and nowhere else", async () => {
  const { scorel } = world();
  scorel.waiting.set([prompt("a"), prompt("b", { sessionId: null })]);
  renderApp(scorel, "/");
  const [workshop, attic] = await screen.findAllByTestId("device-row");
  expect(badges(workshop as HTMLElement)).toEqual(["2 messages waiting to send"]);
  expect(badges(attic as HTMLElement)).toEqual([]);
  act(() => scorel.waiting.set([prompt("a", { error: "too large" }), prompt("b")]));
  expect(badges(workshop as HTMLElement)).toEqual(["1 message not sent"]);
  act(() => scorel.waiting.set([]));
  expect(badges(workshop as HTMLElement)).toEqual([]);
});

test("a waiting prompt is shown on the row of its session, in the sidebar and in its own list", async () => {
  setMedia("(min-width: 768px)", true);
  const { scorel } = world();
  scorel.waiting.set([prompt("a"), prompt("b", { sessionId: null, text: "begin here" })]);
  renderApp(scorel, `/d/${dev}`);
  const rows = await screen.findAllByTestId("session-row");
  expect(rows.map(badges)).toEqual([["1 message waiting to send"], []]);
  const list = screen.getByTestId("waiting-list");
  const links = within(list).getAllByRole("link");
  expect(links.map((each) => each.getAttribute("href"))).toEqual([`/d/${dev}/s/s1`, `/d/${dev}/new?project=p1`]);
  expect((await screen.findByTestId("sidebar-starting")).textContent).toContain("begin here");
});

test("a rejected prompt can be retried and discarded if its session cannot be opened", async () => {
  const { scorel } = world();
  scorel.waiting.set([prompt("a", { sessionId: "gone", error: "no such session" })]);
  renderApp(scorel, `/d/${dev}`);
  const list = await screen.findByTestId("waiting-list");
  expect(list.textContent).toContain("Not sent: no such session");
  fireEvent.click(within(list).getByRole("button", { name: "Try again" }));
  expect(scorel.waiting.get()).toMatchObject([{ error: null }]);
  fireEvent.click(within(list).getByRole("button", { name: "Discard" }));
  expect(screen.queryByTestId("waiting-list")).toBeNull();
});
