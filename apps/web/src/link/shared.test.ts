// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { closePages, freshBrowser, keptPrompts, openPage, pairPage, SHORT, until } from "../../test-support/bench";
import { FakeDevice } from "../../test-support/device";
import type { ModelSession } from "../../test-support/model-session";
import { FakeRelay } from "../../test-support/relay";
import { type Tab, Tabs } from "../../test-support/tabs";
import type { SessionState, SessionView } from "../api/contract";

let relay: FakeRelay;
let device: FakeDevice;
let model: ModelSession;
let tabs: Tabs;

beforeEach(async () => {
  freshBrowser();
  relay = new FakeRelay();
  device = await FakeDevice.create();
  relay.add(device);
  model = device.session("ses_1");
  tabs = new Tabs(relay);
});
afterEach(closePages);

const host = ({ page }: Tab) => page.host(device.identity.id);
const session = (tab: Tab, id = "ses_1"): SessionView => host(tab).session(id);
const live = (view: SessionView): Promise<SessionState> => until(view.state, (s) => s.status === "live");
const asked = (name: string) => device.requests.filter((each) => each === name).length;

async function paired(): Promise<Tab> {
  const tab = tabs.open();
  await pairPage(tab.page, device);
  return tab;
}

/** Waits until everything sent to the host has arrived there. */
const settled = async (tab: Tab) => host(tab).request("get_host", {});

describe("tabs that share a worker", () => {
  it("share one connection and one channel, and receive what they follow", async () => {
    const one = await paired();
    const two = tabs.open();
    device.session("ses_2");
    const [first, second] = [session(one), session(two, "ses_2")];
    await Promise.all([live(first), live(second)]);
    expect(relay.dialed).toBe(1);
    expect(relay.seen.get().filter(({ type }) => type === "open_channel")).toHaveLength(1);
    model.userMessage("for the first", "k1", "cli_other");
    await until(first.state, (s) => s.entries.length === 1);
    device.broadcast({ type: "session_updated", session: { ...model.summary, name: "told to all" } });
    await expect.poll(() => JSON.stringify(two.got)).toContain("told to all");
    expect(JSON.stringify(two.got)).not.toContain("for the first");
  });

  it("follow one session until the last of them leaves", async () => {
    const one = await paired();
    const two = tabs.open();
    const [first, second] = [session(one), session(two)];
    await Promise.all([live(first), live(second)]);
    model.userMessage("to both", "k1", "cli_other");
    await Promise.all([first, second].map((each) => until(each.state, (s) => s.entries.length === 1)));
    await host(one).request("unsubscribe", { sessionId: "ses_1" });
    model.userMessage("to the other", "k2", "cli_other");
    await until(second.state, (s) => s.entries.length === 2);
    expect(asked("unsubscribe")).toBe(0);
    await host(two).request("unsubscribe", { sessionId: "ses_1" });
    expect(asked("unsubscribe")).toBe(1);
  });

  it("leave a session even without a connection", async () => {
    const one = await paired();
    const two = tabs.open();
    const [first, second] = [session(one), session(two)];
    await Promise.all([live(first), live(second)]);
    relay.setOnline(device, false);
    await Promise.all([first, second].map((each) => until(each.state, (s) => s.status === "offline")));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    first.release();
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    relay.setOnline(device, true);
    await live(second);
    expect(asked("unsubscribe")).toBe(0);
    await host(two).request("unsubscribe", { sessionId: "ses_1" });
    expect(asked("unsubscribe")).toBe(1);
  });

  it("leave what they followed when they crash", async () => {
    const one = await paired();
    const two = tabs.open();
    await Promise.all([live(session(one)), live(session(two))]);
    one.crash();
    await settled(two);
    expect(asked("unsubscribe")).toBe(0);
    const three = tabs.open();
    await live(session(three, "ses_1"));
    two.crash();
    three.crash();
    await expect.poll(() => asked("unsubscribe")).toBe(1);
  });

  it("show the same machines, and the same choice of a relay and a name", async () => {
    const one = await paired();
    const two = tabs.open();
    await until(two.page.devices, (devices) => devices?.[0]?.online === true);
    one.page.setLabel("Kitchen");
    expect(await until(two.page.me, (me) => me?.label === "Kitchen")).toMatchObject({ label: "Kitchen" });
    await until(one.page.link, ({ state }) => state === "online");
    await one.page.forgetDevice(device.identity.id);
    await until(two.page.devices, (devices) => devices?.length === 0);
    await pairPage(two.page, device);
    await until(one.page.devices, (devices) => devices?.length === 1);
    relay.revoke(device);
    await until(one.page.devices, (devices) => devices?.[0]?.revoked === true);
    await two.page.setRelayUrl("https://other.test");
    expect(await until(one.page.relayUrl, (url) => url !== relay.url)).toBe("https://other.test");
    await until(one.page.devices, (devices) => devices === null);
  });

  it("count as visible while one of them is", async () => {
    tabs = new Tabs(relay, { timing: { ...SHORT, probeAfter: 5, hiddenProbeAfter: 60_000 } });
    const one = await paired();
    one.hide(true);
    await settled(one);
    tabs.open();
    const before = asked("get_host");
    await expect.poll(() => asked("get_host")).toBeGreaterThan(before + 2);
  });

  it("notify a machine when none of those that show it is visible", async () => {
    const attended: unknown[] = [];
    device.intercept = (request) => {
      if (request.type === "set_attendance") {
        attended.push((request as unknown as { attended: boolean }).attended);
      }
      return undefined;
    };
    const one = await paired();
    const two = tabs.open();
    await Promise.all([live(session(one)), live(session(two))]);
    one.hide(true);
    tabs.open(); // shows no machine
    await settled(one);
    two.crash();
    await expect.poll(() => attended).toEqual([false]);
    relay.cut();
    await expect.poll(() => attended).toEqual([false, false]);
    one.hide(false);
    await expect.poll(() => attended).toEqual([false, false, true]);
    const before = asked("resync_events");
    relay.cut();
    await expect.poll(() => asked("resync_events")).toBeGreaterThan(before);
    await settled(one);
    expect(attended).toEqual([false, false, true]);
  });

  it("notify a machine that was never visible, as in a tab opened in the background", async () => {
    const attended: unknown[] = [];
    const one = await paired();
    one.crash();
    tabs.crash();
    device.intercept = (request) => {
      if (request.type === "set_attendance") {
        attended.push((request as unknown as { attended: boolean }).attended);
      }
      return undefined;
    };
    const two = tabs.open();
    two.hide(true);
    await live(session(two));
    await expect.poll(() => attended).toEqual([false]);
    two.hide(false);
    await expect.poll(() => attended).toEqual([false, true]);
  });

  it("send a prompt once, even beside a tab with its own worker", async () => {
    const one = await paired();
    const two = tabs.open();
    const three = openPage(relay);
    await live(session(one));
    relay.setOnline(device, false);
    await until(session(one).state, (s) => s.status === "offline");
    await session(one).send("once");
    for (const { waiting } of [two.page, three]) {
      await until(waiting, (prompts) => prompts.length === 1);
    }
    one.crash();
    relay.setOnline(device, true);
    for (const { waiting } of [two.page, three]) {
      await until(waiting, (prompts) => prompts.length === 0);
    }
    expect(device.prompts.map(({ text }) => text)).toEqual(["once"]);
    expect(await keptPrompts()).toEqual([]);
  });

  it("are all notified of an error of their worker", async () => {
    const reported = vi.fn();
    vi.stubGlobal("reportError", reported);
    const [one, two] = [tabs.open(), tabs.open()];
    await Promise.all([one, two].map(({ page }) => until(page.me, (me) => me !== null)));
    tabs.worker.fault("out of order");
    await expect.poll(() => reported.mock.calls.length).toBe(2);
    expect(reported).toHaveBeenCalledWith(new Error("out of order"));
    vi.unstubAllGlobals();
  });

  it("open a session in the state of another tab, and keep its copy whole", async () => {
    for (let i = 0; i < 5; i++) {
      model.userMessage(`line ${i}`, `k${i}`, "cli_other");
    }
    const one = await paired();
    await live(session(one));
    const two = tabs.open();
    const view = session(two);
    const shown = await until(view.state, (s) => s.entries.length > 0);
    expect(shown.entries).toEqual(model.log);
    model.userMessage("meanwhile", "later", "cli_other");
    await until(view.state, (s) => s.status === "live" && s.entries.length === 6);
    relay.down = true;
    relay.cut();
    const three = tabs.open();
    const saved = await until(session(three).state, (s) => s.savedAt !== null);
    expect(saved.entries).toEqual(model.log);
  });
});

describe("a tab that the browser has frozen", () => {
  it("does not queue what it misses, and is in sync again afterwards", async () => {
    tabs = new Tabs(relay, { unconfirmed: 100_000 });
    const one = await paired();
    const two = tabs.open();
    const [first, second] = [session(one), session(two)];
    await Promise.all([live(first), live(second)]);
    two.freeze();
    const before = two.got.length;
    for (let i = 0; i < 60; i++) {
      model.userMessage(`${i} ${"x".repeat(10_000)}`, `k${i}`, "cli_other");
    }
    await until(first.state, (s) => s.entries.length === 60);
    const kept = JSON.stringify(two.got.slice(before)).length;
    expect(kept).toBeGreaterThan(80_000);
    expect(kept).toBeLessThan(200_000);
    two.thaw();
    await until(second.state, (s) => s.status === "live" && s.entries.at(-1)?.id === model.log.at(-1)?.id);
    expect(second.state.get().entries).toEqual(first.state.get().entries);
    model.userMessage("after that", "last", "cli_other");
    await until(second.state, (s) => s.entries.at(-1)?.id === model.log.at(-1)?.id);
  });
});

describe("a worker that ends", () => {
  it("is replaced, and loses no prompt", async () => {
    const one = await paired();
    const two = tabs.open();
    const views = [session(one), session(two)];
    await Promise.all(views.map(live));
    tabs.crash();
    const stored = session(one).send("into the gap");
    await Promise.all(views.map((view) => until(view.state, (s) => s.status === "live" && s.entries.length === 1)));
    await stored;
    expect(relay.dialed).toBe(2);
    expect(device.prompts.map(({ text }) => text)).toEqual(["into the gap"]);
    await until(one.page.waiting, (waiting) => waiting.length === 0);
  });

  it("does not lose the answers that a page waits for", async () => {
    const one = await paired();
    device.intercept = ({ type }) => (type === "list_projects" ? null : undefined);
    const answer = host(one).request("list_projects", {});
    answer.catch(() => {});
    await expect.poll(() => asked("list_projects")).toBe(1);
    tabs.crash();
    await expect(answer).rejects.toThrow("interrupted");
  });
});
