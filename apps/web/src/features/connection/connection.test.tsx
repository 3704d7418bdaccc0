import "../../app/testing/browser";
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { type DiagnosisState, type DiagnosisStep, skipRest, waiting } from "../../api/diagnosis";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { renderApp } from "../../app/testing/render-app";
import { navigate } from "../route/history";
import { reportOf } from "./words";

const ok = (name: DiagnosisStep["name"]): DiagnosisStep => ({ name, status: "ok", detail: `${name} is well`, ms: 4 });
const relay = [ok("page"), ok("network"), ok("relay"), ok("login"), ok("clock")];
const offline: DiagnosisStep = {
  name: "presence",
  status: "failed",
  finding: "presence_offline",
  detail: "the machine is not connected to the relay",
  ms: 1200,
};
const stopped = [
  ok("binding"),
  offline,
  ...skipRest(waiting(["channel", "seal", "api"]), "not tried, because presence failed"),
];

function show(diagnosis: Partial<DiagnosisState>, path = "/connection") {
  const scorel = new FakeScorel();
  scorel.devices.set([{ id: "dev_one", label: "workshop", online: false }]);
  scorel.diagnosis = { relayUrl: "https://relay.example", relay, devices: [], others: [], done: true, ...diagnosis };
  return { scorel, ...renderApp(scorel, path) };
}

function step(name: string): HTMLElement {
  const found = screen.getAllByTestId("step").find((each) => each.dataset.step === name);
  if (!found) {
    throw new Error(`no step ${name}`);
  }
  return found;
}

describe("the connection page", () => {
  it("shows where the path fails, and what to do", async () => {
    show({ devices: [{ id: "dev_one", label: "workshop", steps: stopped }] });
    const summary = await screen.findByTestId("diagnosis");
    expect(summary.textContent).toContain("workshop cannot be reached");
    expect(summary.textContent).toContain("the machine is not connected to the relay");
    expect(step("presence").dataset.status).toBe("failed");
    expect(within(step("presence")).getByTestId("step-hint").textContent).toContain("scorel host serve");
    expect(step("seal").dataset.status).toBe("skipped");
    expect(step("login").textContent).toContain("login is well");
  });

  it("follows a run, repeats it on request, and stops when the page is left", async () => {
    const running: DiagnosisStep = { name: "login", status: "running", detail: "" };
    const { scorel } = show({ relay: [ok("page"), running], done: false });
    expect((await screen.findByTestId("diagnosis")).dataset.state).toBe("running");
    expect((screen.getByTestId("check-again") as HTMLButtonElement).disabled).toBe(true);
    const first = scorel.diagnoses.at(-1);
    act(() => first?.state.set({ ...scorel.diagnosis, relay, done: true }));
    expect(screen.getByTestId("diagnosis").dataset.state).toBe("ok");
    const before = scorel.diagnoses.length;
    fireEvent.click(screen.getByTestId("check-again"));
    expect(scorel.diagnoses).toHaveLength(before + 1);
    expect(first?.canceled).toBe(true);
    act(() => navigate("/"));
    await waitFor(() => expect(scorel.diagnoses.at(-1)?.canceled).toBe(true));
  });

  it("distinguishes a warning from a failure", async () => {
    const skew: DiagnosisStep = { ...ok("clock"), status: "warn", finding: "clock_skew" };
    show({ relay: [...relay.slice(0, 4), skew] });
    expect((await screen.findByTestId("diagnosis")).dataset.state).toBe("warn");
    expect(within(step("clock")).getByTestId("step-hint").textContent).toContain("NTP");
  });

  it("offers to pair again if that helps", async () => {
    const gone: DiagnosisStep = { ...offline, name: "binding", finding: "binding_missing" };
    show({ devices: [{ id: "dev_one", label: "workshop", steps: [gone] }] });
    expect((await screen.findByRole("link", { name: "Pair again" })).getAttribute("href")).toBe("/pair");
  });

  it("shows that another path works while the chosen relay does not", async () => {
    const gone: DiagnosisStep = { ...offline, name: "network", finding: "network_failed" };
    const untried = skipRest(waiting(["presence"]), "not tried, because network failed");
    const device = { id: "dev_one", label: "workshop" };
    const chosen = { relay: [gone], devices: [{ ...device, steps: untried }] };
    const { scorel } = show(chosen);
    const summary = await screen.findByTestId("diagnosis");
    expect(summary.textContent).not.toContain("another path");
    const other = { relayUrl: "https://two.example", relay: [ok("relay"), ok("login")] };
    const found = { ...other, devices: [{ ...device, steps: [ok("binding"), ok("api")] }] };
    act(() => scorel.diagnoses.at(-1)?.state.set({ ...scorel.diagnosis, ...chosen, others: [found] }));
    expect(screen.getByTestId("diagnosis").textContent).toContain("can still be reached over another path");
    expect(step("paths").dataset.status).toBe("warn");
    expect(step("paths").textContent).toContain("1 of 2 work");
    expect(screen.getAllByTestId("device-path").map((each) => each.dataset.url)).toEqual(["https://two.example"]);
    act(() =>
      scorel.diagnoses.at(-1)?.state.set({
        ...{ ...scorel.diagnosis, ...chosen },
        others: [{ ...found, devices: [{ ...device, steps: stopped }] }],
      }),
    );
    expect(screen.getByTestId("diagnosis").textContent).not.toContain("can still be reached");
    expect(step("paths").dataset.status).toBe("failed");
  });

  it("warns of another path that fails, with its remedy", async () => {
    const device = { id: "dev_one", label: "workshop" };
    const refused: DiagnosisStep = { ...offline, name: "relay", finding: "relay_origin", detail: "no answer" };
    const other = { relayUrl: "https://two.example", relay: [refused], devices: [{ ...device, steps: [] }] };
    show({ devices: [{ ...device, steps: [ok("api")] }], others: [other] });
    expect((await screen.findByTestId("diagnosis")).dataset.state).toBe("warn");
    const second = screen.getByTestId("path-steps");
    expect(second.dataset.url).toBe("https://two.example");
    expect(within(second).getByTestId("step-hint").textContent).toContain("allowed_origins");
    expect(screen.getAllByTestId("device-path").map((each) => each.dataset.url)).toEqual(["https://relay.example"]);
  });

  it("is reached from the settings", async () => {
    show({}, "/");
    fireEvent.click(await screen.findByRole("button", { name: "Settings" }));
    fireEvent.click(await screen.findByTestId("settings-connection"));
    await screen.findByTestId("diagnosis");
    expect(location.pathname).toBe("/connection");
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("is linked from where the page says that it is not connected", async () => {
    const { scorel } = show({}, "/d/dev_one");
    act(() => {
      scorel.host("dev_one").status.set("offline");
      scorel.link.set({ state: "connecting", attempt: 3, retryAt: null, lastError: "The relay cannot be reached." });
    });
    // The page itself is rendered a moment after its frame.
    const links = await waitFor(() => {
      const all = screen.getAllByTestId("connection-link");
      expect(all.map((link) => link.getAttribute("href"))).toEqual(["/connection", "/connection"]);
      return all;
    });
    fireEvent.click(links[0] as HTMLElement);
    expect((await screen.findByTestId("diagnosis")).dataset.state).toBe("ok");
  });
});

describe("the report", () => {
  it("reads like that of the command line", () => {
    const state = {
      relayUrl: "https://relay.example",
      relay: [ok("relay")],
      devices: [{ id: "dev_one", label: "workshop", steps: stopped.slice(0, 3) }],
      others: [],
      done: true,
    };
    expect(reportOf(state).split("\n")).toEqual([
      "https://relay.example",
      "  ok       relay     relay is well (4 ms)",
      '"workshop" (dev_one)',
      "  ok       binding   binding is well (4 ms)",
      "  failed   presence  the machine is not connected to the relay (1.2 s)",
      expect.stringContaining("                     Wake the machine"),
      "  skipped  channel   not tried, because presence failed",
      "",
    ]);
  });
});
