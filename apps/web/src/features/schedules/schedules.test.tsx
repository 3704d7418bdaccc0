import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind, type Grant, type Requests, type Schedule } from "../../api/types";
import { hostInfo, project } from "../../app/testing/builders";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { fieldsOf, specOf } from "./draft";
import ScheduleList from "./ScheduleList";

const nightly: Schedule = {
  id: "sch_1",
  projectId: "p1",
  spec: { name: "nightly", prompt: "/release now", mode: "ask", when: { cron: "0 3 * * *", zone: "Europe/Berlin" } },
  enabled: true,
  createdAt: 1,
  author: "cli_me",
  nextAt: Date.UTC(2027, 0, 4, 2),
  runs: [],
};

function show(grants: Grant[] = ["view", "prompt", "approve", "manage"], schedules = [nightly]) {
  const host = new FakeScorel().host("dev_one");
  host.handlers.get_host = () => ({ host: hostInfo() });
  host.handlers.list_projects = () => ({ projects: [project("p1", "/site")] });
  host.handlers.list_schedules = () => ({ schedules });
  host.handlers.list_skills = () => ({ skills: [{ name: "release", description: "", scope: "project" }] });
  host.handlers.preview_schedule = ({ cron }) =>
    cron === "bad"
      ? Promise.reject(new ApiError(ApiKind.bad_request, "it has 1 field"))
      : { times: [Date.UTC(2027, 0, 4, 7)] };
  render(
    <QueryClientProvider client={new QueryClient()}>
      <ScheduleList host={host} info={hostInfo({ grants, maxMode: "auto" })} projectId="p1" />
    </QueryClientProvider>,
  );
  const sent = <K extends keyof Requests>(name: K) =>
    host.requests.filter((each) => each.name === name).map(({ fields }) => fields as Requests[K]["request"]);
  return { host, sent };
}

test("a schedule is disabled, run and removed", async () => {
  const { host, sent } = show();
  host.handlers.enable_schedule = () => ({ schedule: nightly });
  host.handlers.run_schedule = () => ({ run: { id: "r", cause: "person", state: "starting", dueAt: 1 } });
  host.handlers.delete_schedule = () => ({});
  fireEvent.click(await screen.findByTestId("schedule-enabled"));
  await screen.findByText("Disabled the schedule nightly.");
  fireEvent.click(screen.getByTestId("schedule-run"));
  await screen.findByText("Started nightly.");
  fireEvent.click(screen.getByTestId("schedule-remove"));
  fireEvent.click(await screen.findByRole("button", { name: "Remove" }));
  await screen.findByText("Removed the schedule nightly.");
  expect(sent("enable_schedule")).toEqual([{ projectId: "p1", id: "sch_1", enabled: false }]);
  expect(sent("run_schedule")[0]).toMatchObject({ projectId: "p1", id: "sch_1", clientKey: expect.any(String) });
  expect(sent("delete_schedule")).toEqual([{ projectId: "p1", id: "sch_1" }]);
});

test("the form shows the next times, and what is wrong with an expression", async () => {
  const { host, sent } = show();
  host.handlers.save_schedule = ({ spec }) => ({ schedule: { ...nightly, id: "sch_2", spec } });
  fireEvent.click(await screen.findByTestId("schedule-add"));
  fireEvent.change(await screen.findByTestId("zone"), { target: { value: "Asia/Shanghai" } });
  expect((await screen.findByTestId("next-times")).textContent).toMatch(/15:00|3:00/);
  fireEvent.change(screen.getByTestId("cron"), { target: { value: "bad" } });
  expect((await screen.findByTestId("cron-error")).textContent).toBe("It has 1 field Help");
  fireEvent.change(screen.getByTestId("cron-preset"), { target: { value: "0 * * * *" } });
  fireEvent.change(screen.getByTestId("schedule-name"), { target: { value: " hourly " } });
  fireEvent.change(screen.getByTestId("schedule-prompt"), { target: { value: "Look." } });
  fireEvent.click(screen.getByTestId("schedule-save"));
  await screen.findByText("Saved the schedule hourly.");
  expect(sent("save_schedule")).toMatchObject([
    {
      projectId: "p1",
      clientKey: expect.any(String),
      spec: { name: "hourly", prompt: "Look.", mode: "ask", when: { cron: "0 * * * *", zone: "Asia/Shanghai" } },
    },
  ]);
  expect(sent("save_schedule")[0]).not.toHaveProperty("token");
});

test("the token of a new webhook is shown once, and is the one that the host has if its answer was lost", async () => {
  const { host, sent } = show();
  host.handlers.save_schedule = () => Promise.reject(new Error("The answer was lost."));
  fireEvent.click(await screen.findByTestId("schedule-add"));
  fireEvent.change(await screen.findByTestId("schedule-name"), { target: { value: "deployed" } });
  fireEvent.change(screen.getByTestId("when-kind"), { target: { value: "webhook" } });
  fireEvent.change(screen.getByTestId("schedule-prompt"), { target: { value: "Look." } });
  fireEvent.click(screen.getByTestId("schedule-save"));
  await screen.findByText("The answer was lost.");
  host.handlers.save_schedule = ({ spec }) => ({ schedule: { ...nightly, id: "sch_2", spec } });
  fireEvent.click(screen.getByTestId("schedule-save"));
  const shown = (await screen.findByTestId("webhook-token")).textContent ?? "";
  const token = sent("save_schedule")[0]?.token ?? "none";
  expect(token).toMatch(/^sct_[A-Z2-7]{26}$/);
  expect(shown).toContain(token);
  expect(shown).toContain("/v1/triggers/sch_2");
  fireEvent.click(screen.getByRole("button", { name: "Done" }));
  await waitFor(() => expect(document.body.textContent).not.toContain(token));
});

test("a browser that may only view sees the schedules and changes nothing", async () => {
  show(["view"]);
  await screen.findByTestId("schedule");
  expect(screen.queryByTestId("schedule-run")).toBeNull();
  expect(screen.queryByTestId("schedule-remove")).toBeNull();
  expect(screen.queryByTestId("schedule-add")).toBeNull();
});

test("a schedule that is saved without changes stays as it is", () => {
  const all: Schedule["spec"][] = [
    { ...nightly.spec, onApproval: "end", overlap: "queue", missed: "skip", windowSeconds: 60, cost: 1.5, seconds: 90 },
    { ...nightly.spec, when: { cron: "@daily" }, agent: "critic", model: "main", worktree: true, tokens: 9 },
    { ...nightly.spec, when: { at: Date.UTC(2027, 5, 1, 12, 30) } },
    { ...nightly.spec, when: { after: { scheduleId: "sch_2", outcome: "ended" } } },
    { ...nightly.spec, when: { after: { sessionId: "s1" } } },
    { ...nightly.spec, when: { webhook: { signed: true, perMinute: 30 } }, allowUnattended: true },
    { ...nightly.spec, when: { folder: { path: "inbox", pattern: "*.csv" } } },
    { ...nightly.spec, when: { github: { repository: "o/r", authors: ["a", "b[bot]"], phrase: "@x" } } },
  ];
  for (const spec of all) {
    const again = specOf(fieldsOf({ ...nightly, spec }, ["release"]), spec);
    expect(again).toMatchObject(spec);
    expect(Object.keys(again.when)).toEqual(Object.keys(spec.when));
  }
});
