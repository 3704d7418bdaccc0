// @vitest-environment node
import { Kind } from "@scorel/protocol/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closePages, dialOneOf, freshBrowser, openPage, pairPage, until } from "../../test-support/bench";
import { FakeDevice } from "../../test-support/device";
import { FakeRelay } from "../../test-support/relay";
import type { PageParts, Scorel } from "../api/contract";
import { type DiagnosisState, type DiagnosisStep, failureOf } from "../api/diagnosis";
import { PageDiagnosis } from "../api/doctor";
import type { Timing } from "./timing";

let relay: FakeRelay;
let device: FakeDevice;

beforeEach(async () => {
  freshBrowser();
  relay = new FakeRelay();
  device = await FakeDevice.create();
  relay.add(device);
});

afterEach(closePages);

async function paired(timing: Partial<Timing> = {}): Promise<Scorel> {
  const page = openPage(relay, timing);
  await pairPage(page, device);
  return page;
}

function diagnose(page: Scorel): Promise<DiagnosisState> {
  return until(page.diagnose(PageDiagnosis).state, (state) => state.done);
}

function statuses(steps: readonly DiagnosisStep[] | undefined): Record<string, string> {
  return Object.fromEntries(steps?.map((step) => [step.name, step.status]) ?? []);
}

const wholeRelay = { page: "ok", network: "ok", relay: "ok", login: "ok", clock: "ok" };

describe("a diagnosis", () => {
  it("checks the whole path and leaves nothing open", async () => {
    const page = await paired();
    const state = await diagnose(page);
    expect(statuses(state.relay)).toEqual(wholeRelay);
    expect(state.devices).toMatchObject([{ id: device.identity.id, label: "workshop" }]);
    expect(statuses(state.devices[0]?.steps)).toEqual({
      binding: "ok",
      presence: "ok",
      channel: "ok",
      seal: "ok",
      api: "ok",
    });
    expect(relay.entries.size).toBe(1);
    expect(page.link.get().state).toBe("online");
  });

  it("shows each step while it runs", async () => {
    const page = await paired();
    const diagnosis = page.diagnose(PageDiagnosis);
    const running: string[] = [];
    diagnosis.state.subscribe(() => {
      const { relay: first, devices } = diagnosis.state.get();
      const now = [...first, ...(devices[0]?.steps ?? [])].find((step) => step.status === "running");
      if (now && running.at(-1) !== now.name) {
        running.push(now.name);
      }
    });
    await until(diagnosis.state, (state) => state.done);
    expect(running.at(-1)).toBe("api");
    expect(running.filter((name) => name === "seal")).toHaveLength(1);
  });

  it("warns of a session database that is down", async () => {
    const page = await paired();
    await until(page.host(device.identity.id).status, (status) => status === "open");
    const outage = { provider: "postgres", place: "sessions on db:5432", reason: "nobody answers", since: 1 };
    device.intercept = (request) =>
      request.type === "get_host"
        ? { type: "response", result: { host: { version: "1", outages: [outage] } } }
        : undefined;
    const last = (await diagnose(page)).devices[0]?.steps.at(-1);
    expect(last).toMatchObject({ name: "api", status: "warn", finding: "api_store" });
    expect(last?.detail).toContain("those in postgres (sessions on db:5432) are unavailable: nobody answers");
  });

  it("works without a pairing", async () => {
    const state = await diagnose(openPage(relay));
    expect(statuses(state.relay)).toEqual(wholeRelay);
    expect(state.devices).toEqual([]);
  });

  it("reports nothing once it is canceled", async () => {
    const page = await paired();
    const diagnosis = page.diagnose(PageDiagnosis);
    diagnosis.cancel();
    const before = diagnosis.state.get();
    await diagnose(page);
    expect(diagnosis.state.get()).toBe(before);
    expect(relay.entries.size).toBe(1);
  });
});

describe("a diagnosis of several paths", () => {
  let two: FakeRelay;

  beforeEach(() => {
    two = new FakeRelay("two.test");
    two.add(device);
    device.paths = [relay, two].map(({ url }) => ({ kind: "relay", url, state: "connected" }));
  });

  async function pairedOnBoth(wanted: string): Promise<Scorel> {
    const page = openPage(relay, {}, undefined, dialOneOf(relay, two));
    const id = await pairPage(page, device);
    await until(page.host(id).status, (status) => status === "open");
    await until(page.paths, (paths) => paths[id]?.[1]?.state === wanted);
    return page;
  }

  it("checks each of them", async () => {
    const state = await diagnose(await pairedOnBoth("ready"));
    expect(state.others).toMatchObject([{ relayUrl: "https://two.test", devices: [{ label: "workshop" }] }]);
    const [other] = state.others;
    expect(statuses(other?.relay)).toEqual({ relay: "ok", login: "ok", clock: "ok" });
    expect([state, other].map((each) => each?.devices[0]?.steps.at(-1))).toMatchObject([
      { name: "api", status: "ok" },
      { name: "api", status: "ok" },
    ]);
    expect(two.entries.size).toBe(1);
  });

  it("reports where each of them stops", async () => {
    const page = await pairedOnBoth("ready");
    two.setPresent(device, false);
    relay.down = true;
    relay.cut();
    const { relay: chosen, others } = await diagnose(page);
    expect(failureOf(chosen)).toMatchObject({ name: "relay", finding: "relay_socket" });
    expect(failureOf(others[0]?.devices[0]?.steps ?? [])).toMatchObject({ finding: "presence_offline" });
  });

  it("reports that another relay may not allow pages of this address", async () => {
    two.down = true;
    const { relay: chosen, others } = await diagnose(await pairedOnBoth("origin"));
    expect(failureOf(chosen)).toBeUndefined();
    expect(failureOf(others[0]?.relay ?? [])).toMatchObject({ name: "relay", finding: "relay_origin" });
  });

  it("reports where the pairing is not known yet", async () => {
    two.claims = "refuses";
    const { others } = await diagnose(await pairedOnBoth("unbound"));
    expect(failureOf(others[0]?.devices[0]?.steps ?? [])).toMatchObject({ name: "binding", finding: "binding_new" });
  });

  describe("while the page cannot ask its own server", () => {
    async function reopened(): Promise<Scorel> {
      await pairedOnBoth("ready");
      closePages();
      const parts = { origin: relay.url, fetch: () => Promise.reject(new TypeError("no")), script: () => null };
      return openPage(relay, {}, parts, dialOneOf(relay, two));
    }

    it("continues over the others", async () => {
      const cut = await reopened();
      await until(cut.host(device.identity.id).status, (status) => status === "open");
      const { relay: chosen, others } = await diagnose(cut);
      expect(failureOf(chosen)).toMatchObject({ name: "network" });
      expect(others[0]?.devices[0]?.steps.at(-1)).toMatchObject({ name: "api", status: "ok" });
    });

    it("lists the machine with both, also if the page did not know it yet", async () => {
      const { devices, others } = await diagnose(await reopened());
      expect([devices, others[0]?.devices]).toMatchObject([[{ label: "workshop" }], [{ label: "workshop" }]]);
      expect(new Set(devices[0]?.steps.map(({ status }) => status))).toEqual(new Set(["skipped"]));
    });
  });
});

describe("a diagnosis reports where it stops:", () => {
  const faults: [string, () => void | Promise<void>, string, string][] = [
    ["a relay that is gone", () => breakDown(), "relay", "relay_socket"],
    ["a relay that has another name", () => refuse(Kind.wrong_authority), "login", "login_name"],
    ["a relay that is asked too often", () => refuse(Kind.rate_limited), "login", "login_rate"],
    ["a relay without its store", () => refuse(Kind.unavailable), "login", "login_unavailable"],
    ["a relay that lets this browser not in", () => refuse(Kind.not_allowed), "login", "login_refused"],
    ["a machine that sleeps", () => relay.setOnline(device, false), "presence", "presence_offline"],
    ["a pairing that is gone", () => relay.revoke(device), "binding", "binding_missing"],
    ["a machine that went just now", liveOnlyOnPaper, "channel", "channel_offline"],
    ["a host that refuses", () => answer({ type: "error", kind: 3, message: "no" }), "api", "api_refused"],
  ];
  it.each(faults)("%s", async (_, spoil, name, finding) => {
    const page = await paired();
    await spoil();
    const state = await diagnose(page);
    const stopped = failureOf(state.relay) ?? failureOf(state.devices[0]?.steps ?? []);
    expect(stopped).toMatchObject({ name, finding });
    const all = [...state.relay, ...(state.devices[0]?.steps ?? [])];
    const rest = all.slice(all.findIndex((step) => step.name === name) + 1);
    expect(rest.every((step) => step.status === "skipped" && step.detail === `not tried, because ${name} failed`)).toBe(
      true,
    );
  });

  it("keys that are not the paired ones", async () => {
    const page = await paired();
    const other = await FakeDevice.create();
    relay.describe = (peer) => ({ ...peer, sealKey: peerKey(other) });
    // An id commits to its keys, so wrong keys are detected before anything is requested.
    expect(failureOf((await diagnose(page)).relay)).toMatchObject({ name: "login", finding: "login_broken" });
  });

  it("a host that does not answer", async () => {
    const page = await paired({ handshake: 1_000 });
    await until(page.host(device.identity.id).status, (status) => status === "open");
    answer(null);
    const [first] = (await diagnose(page)).devices;
    expect(failureOf(first?.steps ?? [])).toMatchObject({ name: "api", finding: "api_silent" });
  });
});

describe("checks that only the page can make", () => {
  const parts = (over: Partial<PageParts>): PageParts => ({
    origin: relay.url,
    fetch: async () => Response.json({ status: "ok" }),
    script: () => "/assets/index-old.js",
    ...over,
  });
  const html = (path: string): Response =>
    path === "/"
      ? new Response('<html><script type="module" crossorigin src="/assets/index-new.js"></script>')
      : Response.json({ status: "ok", version: "1.2" });
  const cases: [string, Partial<PageParts>, object[]][] = [
    [
      "a current page",
      { fetch: async (p) => html(p), script: () => "/assets/index-new.js" },
      [{ status: "ok" }, { detail: "answered by scorel 1.2" }],
    ],
    [
      "a page that is old",
      { fetch: async (p) => html(p) },
      [{ status: "warn", finding: "page_old" }, { status: "ok" }],
    ],
    [
      "no network",
      { fetch: () => Promise.reject(new TypeError("Failed to fetch")) },
      [{ status: "ok" }, { status: "failed", finding: "network_failed" }],
    ],
    [
      "a server that says nothing",
      { fetch: () => Promise.reject(new DOMException("", "TimeoutError")) },
      [{}, { status: "failed", finding: "relay_silent" }],
    ],
    [
      "a proxy that hides the health",
      { fetch: async () => new Response("", { status: 404 }) },
      [{}, { status: "ok", detail: "answered; its health is not public" }],
    ],
    [
      "a proxy without its relay",
      { fetch: async () => new Response("<html>", { status: 502 }) },
      [{}, { finding: "relay_busy" }],
    ],
    [
      "a relay of another name",
      { fetch: async () => new Response("", { status: 421 }) },
      [{}, { finding: "relay_name" }],
    ],
    [
      "a relay that fails",
      { fetch: async () => Response.json({ status: "failing", problem: "store does not answer" }, { status: 503 }) },
      [{}, { status: "warn", finding: "relay_failing" }],
    ],
    ["a relay elsewhere", { origin: "https://app.test" }, [{}, { status: "skipped" }]],
  ];
  it.each(cases)("%s", async (_, over, want) => {
    const page = openPage(relay, {}, parts(over));
    const state = await diagnose(page);
    expect(state.relay.slice(0, 2)).toMatchObject(want);
    const stopped = state.relay[1]?.status === "failed";
    expect(state.relay.slice(2).every((step) => step.status === (stopped ? "skipped" : "ok"))).toBe(true);
  });
});

function breakDown(): void {
  relay.down = true;
}

function refuse(kind: Kind): void {
  relay.refuseLogin = { type: "error", kind, message: "The relay says no." };
}

function answer(message: object | null): void {
  device.intercept = (request) => (request.type === "get_host" ? message : undefined);
}

/** The relay's report at login and its answer to a request may differ, because the host disconnected in between. */
function liveOnlyOnPaper(): void {
  device.online = false;
  relay.describe = (peer) => ({ ...peer, online: true });
}

function peerKey(other: FakeDevice): string {
  return Buffer.from(other.identity.sealKey).toString("base64url");
}
