// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closePages, dialOneOf, freshBrowser, keptPrompts, openPage, pairPage, until } from "../../test-support/bench";
import { FakeDevice } from "../../test-support/device";
import { FakeRelay } from "../../test-support/relay";
import type { Device, DevicePath, Scorel } from "../api/contract";
import { openDb } from "../api/db";
import { parseRelayUrl } from "../api/relay-url";
import type { DeviceBook } from "./devices";
import { obstacle } from "./known-paths";
import { isRevoked, mergeDevices, type Told } from "./merged";
import { betterWay, type Leading, type PathWay, waysTo } from "./paths";
import { allPins, type Pin, relayOf } from "./pins";
import type { LinkSession } from "./session";

let one: FakeRelay;
let two: FakeRelay;
let device: FakeDevice;

beforeEach(async () => {
  freshBrowser();
  one = new FakeRelay("one.test");
  two = new FakeRelay("two.test");
  device = await FakeDevice.create();
  for (const relay of [one, two]) {
    relay.add(device);
  }
  device.paths = [one, two].map(({ url }) => ({ kind: "relay", url, state: "connected" }));
});

afterEach(closePages);

function open(): Scorel {
  return openPage(one, {}, undefined, dialOneOf(one, two));
}

/** A measurement may move the channel at any time, so the used path is compared only where a single one is left. */
const statesOf = (paths: Record<string, DevicePath[]>) => {
  const all = paths[device.identity.id] ?? [];
  const used = all.filter(({ state }) => state === "used").length;
  const open = all.filter(({ state }) => state === "used" || state === "ready").length;
  return used === Math.min(open, 1)
    ? all.map(({ url, state }) => `${new URL(url).hostname} ${state === "used" ? "ready" : state}`)
    : [];
};

/** Waits until the paths have these states and one of them is used. */
async function paths(page: Scorel, ...wanted: string[]): Promise<void> {
  await expect.poll(() => statesOf(page.paths.get()), { timeout: 5_000 }).toEqual(wanted);
}

/** A page with a device over both relays. */
async function paired(): Promise<Scorel> {
  const page = open();
  const host = page.host(await pairPage(page, device));
  await until(host.status, (status) => status === "open");
  await paths(page, "one.test ready", "two.test ready");
  return page;
}

describe("a device over two relays", () => {
  it("is claimed at the second before it is needed, and is one device", async () => {
    const page = await paired();
    expect(two.bindings.size).toBe(1);
    expect(page.devices.get()).toEqual([{ id: device.identity.id, label: "workshop", online: true }]);
    const pins = await allPins(await openDb());
    expect(pins.map(({ authority, state, claimed }) => [authority, state, claimed])).toEqual([
      ["one.test", "bound", undefined],
      ["two.test", "bound", true],
    ]);
  });

  it("is reached over the other when one is lost, without interruption", async () => {
    const page = await paired();
    const host = page.host(device.identity.id);
    one.down = true;
    one.cut();
    expect(await host.request("list_projects", {})).toEqual({ projects: [] });
    await paths(page, "one.test connecting", "two.test ready");
    expect(page.link.get().state).toBe("online");
    expect(page.devices.get()).toEqual([{ id: device.identity.id, label: "workshop", online: true }]);
    closePages();
    const again = open();
    const other = again.host(device.identity.id);
    await until(other.status, (status) => status === "open");
    await paths(again, "one.test connecting", "two.test ready");
  });

  it("is reached over the other when it leaves one", async () => {
    const page = await paired();
    one.setPresent(device, false);
    await paths(page, "one.test absent", "two.test ready");
    expect(page.devices.get()?.[0]?.online).toBe(true);
    two.setPresent(device, false);
    await until(page.host(device.identity.id).status, (status) => status === "offline");
    one.setPresent(device, true);
    await until(page.host(device.identity.id).status, (status) => status === "open");
  });

  it("gets each prompt once, whichever path is lost while it is sent", async () => {
    const page = await paired();
    const session = device.session("s1");
    const view = page.host(device.identity.id).session("s1");
    await until(view.state, ({ status }) => status === "live");
    for (let n = 0; n < 12; n++) {
      const [gone, left] = n % 2 === 0 ? [one, two] : [two, one];
      left.down = false;
      const sent = view.send(`prompt ${n}`);
      gone.down = true;
      gone.cut();
      await sent;
      await expect.poll(() => device.prompts.length, { timeout: 5_000 }).toBe(n + 1);
    }
    await until(view.state, ({ outgoing }) => outgoing.length === 0);
    expect(device.prompts.map(({ text }) => text)).toEqual(Array.from({ length: 12 }, (_, n) => `prompt ${n}`));
    await until(view.state, ({ entries, status }) => status === "live" && entries.length === session.log.length);
    expect(view.state.get().entries.map(({ id }) => id)).toEqual(session.log.map(({ id }) => id));
  });

  it("is paired over the other relay while the chosen one is down", async () => {
    const page = await paired();
    one.down = true;
    one.cut();
    await paths(page, "one.test connecting", "two.test ready");
    const second = await FakeDevice.create("attic");
    two.add(second);
    await pairPage(page, second);
    expect(page.devices.get()?.map(({ label }) => label)).toEqual(["workshop", "attic"]);
  });

  it("avoids a relay that ignores or refuses claims", async () => {
    two.claims = "ignores";
    const page = open();
    const host = page.host(await pairPage(page, device));
    await until(host.status, (status) => status === "open");
    await paths(page, "one.test ready", "two.test unbound");
    closePages();
    two.claims = "refuses";
    const again = open();
    await until(again.host(device.identity.id).status, (status) => status === "open");
    await paths(again, "one.test ready", "two.test unbound");
    await expect.poll(() => again.paths.get()[device.identity.id]?.[1]?.detail).toBe("Too many claims.");
  });

  it("reports that a relay without answers may not allow pages of this origin", async () => {
    two.down = true;
    const page = open();
    await pairPage(page, device);
    await until(page.host(device.identity.id).status, (status) => status === "open");
    await paths(page, "one.test ready", "two.test origin");
    two.down = false;
    await paths(page, "one.test ready", "two.test ready");
  });

  it("drops a relay that the device has left, and keeps the one where it was paired", async () => {
    const page = await paired();
    device.paths = [];
    device.broadcast({ type: "paths_changed" });
    await paths(page, "one.test ready");
    await expect.poll(() => two.entries.size).toBe(0);
    expect((await allPins(await openDb())).map(({ authority }) => authority)).toEqual(["one.test"]);
  });
});

describe("a removal", () => {
  it("claimed by one relay deletes nothing while the device answers over another, and is undone", async () => {
    const page = await paired();
    const host = page.host(device.identity.id);
    one.claims = "ignores";
    one.revoke(device);
    await paths(page, "one.test revoked", "two.test ready");
    expect(await host.request("list_projects", {})).toEqual({ projects: [] });
    one.claims = "binds";
    device.broadcast({ type: "paths_changed" });
    await paths(page, "one.test ready", "two.test ready");
    expect(page.devices.get()).toEqual([{ id: device.identity.id, label: "workshop", online: true }]);
  });

  it("claimed by one relay deletes nothing while the other cannot be asked", async () => {
    const page = await paired();
    device.session("s1");
    const view = page.host(device.identity.id).session("s1");
    await until(view.state, ({ status }) => status === "live");
    two.down = true;
    two.cut();
    device.online = false;
    one.setPresent(device, false);
    await view.send("still here");
    one.claims = "ignores"; // as a relay does with a proof that is older than the removal
    one.revoke(device);
    await paths(page, "one.test revoked", "two.test connecting");
    expect(await keptPrompts()).toMatchObject([{ text: "still here" }]);
    expect(page.devices.get()?.[0]?.revoked).toBeUndefined();
  });

  it("reported by all relays ends the access, and keeps what waits", async () => {
    const page = await paired();
    device.session("s1");
    const host = page.host(device.identity.id);
    const view = host.session("s1");
    await until(view.state, ({ status }) => status === "live");
    one.setPresent(device, false);
    two.setPresent(device, false);
    await view.send("still here");
    one.claims = "ignores";
    two.claims = "ignores";
    one.revoke(device);
    two.revoke(device);
    await until(host.status, (status) => status === "revoked");
    expect(page.devices.get()?.[0]?.revoked).toBe(true);
    expect(await keptPrompts()).toMatchObject([{ text: "still here" }]);
  });

  it("confirmed by the device needs no other relay", async () => {
    const page = await paired();
    device.session("s1");
    await until(page.host(device.identity.id).session("s1").state, ({ status }) => status === "live");
    device.leaves = true;
    one.down = true;
    one.cut();
    await paths(page, "one.test connecting", "two.test ready");
    await until(page.host(device.identity.id).status, (status) => status === "open");
    await page.forgetDevice(device.identity.id);
    expect(device.left).toBe(1);
    await until(page.devices, (devices) => devices?.length === 0);
  });

  it("here needs one reachable relay, and names the others", async () => {
    const page = await paired();
    one.down = true;
    one.cut();
    await paths(page, "one.test connecting", "two.test ready");
    await expect(page.forgetDevice(device.identity.id)).rejects.toThrow("https://one.test could not be notified");
    expect(two.bindings.size).toBe(0);
    expect(await allPins(await openDb())).toEqual([]);
    await until(page.devices, (devices) => devices?.length === 0);
  });
});

const pin = (more: Partial<Pin> = {}): Pin => ({
  authority: "one.test",
  id: "dev_one",
  signKey: new Uint8Array(32),
  sealKey: new Uint8Array(32),
  label: "workshop",
  pairedAt: 1,
  state: "bound",
  ...more,
});

interface Says {
  pin?: Pin;
  problem?: string;
  online?: boolean;
  told?: boolean;
  connected?: boolean;
}

function told({ pin: known, problem, online = false, told: hasTold = true, connected = true }: Says): Told {
  const trouble: Device | undefined = problem ? { id: "dev_one", label: "x", online: false, problem } : undefined;
  const book: Pick<DeviceBook, "told" | "ids" | "pinned" | "pin" | "usable" | "isOnline" | "problem"> = {
    told: hasTold,
    ids: known || trouble ? ["dev_one"] : [],
    pinned: known && known.state !== "pending" ? [known] : [],
    pin: () => known,
    usable: () => (known?.state === "bound" && !trouble ? known : null),
    isOnline: () => online,
    problem: () => trouble,
  };
  return { book: book as DeviceBook, connected };
}

describe("mergeDevices", () => {
  const workshop = { id: "dev_one", label: "workshop", online: true };
  const offline = { ...workshop, online: false };
  it.each<[string, Says[], Device[] | null]>([
    ["nothing before a relay has told", [{ told: false }, { told: false }], null],
    ["no device", [{}, { told: false }], []],
    ["online where one relay says so", [{ pin: pin() }, { pin: pin(), online: true }], [workshop]],
    [
      "usable where one relay removed it",
      [{ pin: pin({ state: "revoked" }) }, { pin: pin(), online: true }],
      [workshop],
    ],
    ["usable where one relay lies of its keys", [{ problem: "keys" }, { pin: pin(), online: true }], [workshop]],
    [
      "removed where all say so",
      [{ pin: pin({ state: "revoked" }) }, { pin: pin({ state: "revoked" }), told: false }],
      [{ ...offline, revoked: true }],
    ],
    [
      "untold where the telling relay removed it",
      [{ pin: pin({ state: "revoked" }) }, { pin: pin(), told: false }],
      [{ ...offline, untold: true }],
    ],
    [
      "not known while its relay is away",
      [{ pin: pin(), online: true, connected: false }, {}],
      [{ ...workshop, away: true }],
    ],
    [
      "unusable where no relay has its keys",
      [{ problem: "keys" }, {}],
      [{ id: "dev_one", label: "x", online: false, problem: "keys" }],
    ],
  ])("reports %s", (_, says, wanted) => {
    expect(mergeDevices(says.map(told))).toEqual(wanted);
  });

  it("counts a device as removed when all relays report it, or none knows it", () => {
    const gone = told({ pin: pin({ state: "revoked" }) });
    expect(isRevoked([gone, told({ pin: pin() })], "dev_one")).toBe(false);
    expect(isRevoked([gone, gone], "dev_one")).toBe(true);
    expect(isRevoked([told({}), told({ told: false })], "dev_one")).toBe(true);
    expect(isRevoked([told({ told: false })], "dev_one")).toBe(false);
    expect(isRevoked([told({ pin: pin({ state: "pending" }) })], "dev_one")).toBe(false);
  });
});

describe("the choice of a path", () => {
  function leading(
    url: string,
    { rtt, ping = 10, online = true }: { rtt?: number; ping?: number; online?: boolean },
  ): Leading {
    const address = parseRelayUrl(url);
    const known = pin({ authority: address.authority, ...(rtt === undefined ? {} : { rtt }) });
    const session = { url } as unknown as LinkSession;
    return { address, session, ping, book: { usable: () => known, isOnline: () => online } };
  }
  const names = (ways: readonly PathWay[]) => ways.map(({ relay }) => relay.address.authority);

  it("prefers this machine, then the fastest device, then the fastest relay", () => {
    const relays = [
      leading("https://slow.test", { rtt: 90 }),
      leading("https://new.test", { ping: 20 }),
      leading("https://gone.test", { rtt: 1, online: false }),
      leading("http://127.0.0.1:7410", { rtt: 300 }),
      leading("https://fast.test", { rtt: 30 }),
    ];
    expect(names(waysTo(relays, "dev_one"))).toEqual(["127.0.0.1:7410", "fast.test", "new.test", "slow.test"]);
  });

  it("changes only for a clearly better one", () => {
    const used = leading("https://used.test", { rtt: 100 });
    const better = (...others: Leading[]) => {
      const ways = waysTo([used, ...others], "dev_one");
      return betterWay(ways, used.session as LinkSession)?.way.relay.address.authority;
    };
    expect(better()).toBeUndefined();
    expect(better(leading("https://near.test", { ping: 20 }))).toBe("near.test");
    expect(better(leading("https://far.test", { ping: 80 }))).toBeUndefined();
    expect(better(leading("http://localhost:1", { ping: 400 }))).toBe("localhost:1");
  });

  it.each([
    ["https://relay.test", "https://page.test", null],
    ["http://192.168.1.5:7411", "https://page.test", "insecure"],
    ["http://192.168.1.5:7411", "http://127.0.0.1:7410", null],
    ["http://127.0.0.1:7410", "https://page.test", "elsewhere"],
    ["http://127.0.0.1:7411", "http://localhost:7410", null],
  ])("decides whether %s can be used by a page of %s", (url, page, wanted) => {
    expect(obstacle(parseRelayUrl(url), parseRelayUrl(page))).toBe(wanted);
  });

  it.each([
    [{ authority: "relay.test" }, "https://relay.test"],
    [{ authority: "127.0.0.1:8080" }, "http://127.0.0.1:8080"],
    [{ authority: "127.0.0.1:8080", url: "https://127.0.0.1:8080" }, "https://127.0.0.1:8080"],
  ])("finds the relay of a pin of any age: %o", (more, http) => {
    expect(relayOf(pin(more)).http).toBe(http);
  });
});
