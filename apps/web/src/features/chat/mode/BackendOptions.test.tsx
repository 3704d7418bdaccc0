import "../../../app/testing/browser";
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../../api/contract";
import { ApiKind, type Requests } from "../../../api/types";
import { custom, hostInfo, summary } from "../../../app/testing/builders";
import { FakeScorel, FakeSession } from "../../../app/testing/fake-scorel";
import { renderApp } from "../../../app/testing/render-app";

const choices = [
  { value: "ask", name: "Ask" },
  { value: "bypass", name: "Bypass" },
];

async function open() {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: "dev_one", label: "workshop", online: true }]);
  const host = scorel.host("dev_one");
  const listed = summary("s1", "p1", "A session", { backend: "claude" });
  const said: Requests["get_backend"]["response"] = {
    backend: "claude",
    options: [
      { id: "mode", name: "Mode\u202e", value: "ask", choices },
      { id: "alone", name: "Alone", value: "one", choices: [{ value: "one", name: "One" }] },
    ],
    commands: [
      { name: "review", description: "Reviews a change", hint: "number" },
      { name: "rewind", description: "Goes back" },
    ],
  };
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects: [] });
  host.handlers.list_sessions = () => ({ sessions: [listed] });
  host.handlers.list_clients = () => ({ clients: [] });
  host.handlers.list_backends = () => ({
    backends: [{ name: "claude", title: "Claude Code", command: "c", path: "/c" }],
  });
  host.handlers.get_backend = () => said;
  const session = new FakeSession("s1", { summary: listed });
  host.sessions.set("s1", session);
  renderApp(scorel, "/d/dev_one/s/s1");
  fireEvent.click(await screen.findByTestId("backend-options"));
  const shown = (await screen.findByTestId("backend-option-mode")) as HTMLSelectElement;
  return { host, session, said, shown };
}

test("the options of a program are changed, and follow its log", async () => {
  const { host, session, said, shown } = await open();
  expect(shown.getAttribute("aria-label")).not.toContain("\u202e");
  expect(screen.queryByTestId("backend-option-alone")).toBeNull();
  const asked: unknown[] = [];
  host.handlers.set_backend_option = (fields) => {
    asked.push(fields);
    said.options = [{ id: "mode", name: "Mode", value: fields.value, choices }];
    return {};
  };
  fireEvent.change(shown, { target: { value: "bypass" } });
  await waitFor(() => expect(asked).toEqual([{ sessionId: "s1", option: "mode", value: "bypass" }]));
  act(() => session.patch({ entries: [custom("scorel.backend", { kind: "options", backend: "claude" })] }));
  await waitFor(() => expect(shown.value).toBe("bypass"));
});

test("an option that may not be changed keeps its value", async () => {
  const { host, shown } = await open();
  host.handlers.set_backend_option = () => {
    throw new ApiError(ApiKind.not_allowed, "this connection may set modes up to ask");
  };
  fireEvent.change(shown, { target: { value: "bypass" } });
  await screen.findByText(/may set modes up to ask/);
  expect(shown.value).toBe("ask");
});

test("a slash offers the commands of the program, and none of scorel's own agent", async () => {
  await open();
  const area = screen.getByTestId("composer") as HTMLTextAreaElement;
  fireEvent.change(area, { target: { value: "/re" } });
  const options = await screen.findAllByTestId("slash-option");
  expect(options.map((each) => each.textContent)).toEqual([
    "/reviewnumber · Reviews a changeCommand",
    "/rewindGoes backCommand",
  ]);
  fireEvent.keyDown(area, { key: "Enter" });
  expect(area.value).toBe("/review ");
});
