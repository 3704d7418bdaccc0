// @vitest-environment node
import { toBase64, toBase64url } from "@scorel/protocol";
import { Kind } from "@scorel/protocol/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closePages, dialOneOf, freshBrowser, openPage, pairPage, until, untilStep } from "../../test-support/bench";
import { FakeDevice } from "../../test-support/device";
import { randomBytes } from "../../test-support/random";
import { FakeRelay } from "../../test-support/relay";
import { openDb } from "../api/db";
import { loadPins, savePin } from "./pins";

let relay: FakeRelay;
let device: FakeDevice;

beforeEach(async () => {
  freshBrowser();
  relay = new FakeRelay();
  device = await FakeDevice.create();
  relay.add(device);
});

afterEach(closePages);

describe("login", () => {
  it("proves the identity, which is the same in every tab", async () => {
    const [a, b] = [openPage(relay), openPage(relay)];
    await until(a.link, (l) => l.state === "online");
    await until(b.link, (l) => l.state === "online");
    const me = a.me.get();
    expect(me).toMatchObject({ id: expect.stringMatching(/^cli_/), label: "Chrome on Linux" });
    expect(b.me.get()).toEqual(me);
    closePages();
    const c = openPage(relay);
    await until(c.link, (l) => l.state === "online");
    expect(c.me.get()).toEqual(me);
  });

  it("keeps keys that cannot be taken out", async () => {
    const page = openPage(relay);
    await until(page.link, (l) => l.state === "online");
    const db = await openDb();
    const keys = await new Promise<{ signPrivate: CryptoKey; sealPrivate: CryptoKey }>((resolve) => {
      const request = db.transaction("identity").objectStore("identity").get("self");
      request.onsuccess = () => resolve(request.result);
    });
    await expect(crypto.subtle.exportKey("pkcs8", keys.signPrivate)).rejects.toThrow();
    await expect(crypto.subtle.exportKey("pkcs8", keys.sealPrivate)).rejects.toThrow();
    db.close();
  });

  it("stops at a refusal, and retries when a person asks", async () => {
    relay.refuseLogin = { type: "error", kind: Kind.wrong_authority, message: "This relay has another name." };
    const page = openPage(relay);
    const link = await until(page.link, (l) => l.state === "refused");
    expect(link).toEqual({ state: "refused", message: "This relay has another name." });
    expect(relay.dialed).toBe(1);
    relay.refuseLogin = null;
    page.reconnectNow();
    await until(page.link, (l) => l.state === "online");
  });

  it("asks for an invite when the relay requires one, and logs in with it", async () => {
    relay.invite = "7K3M-9QXR-2BTD-0V5W";
    const page = openPage(relay);
    const link = await until(page.link, (l) => l.state === "refused");
    expect(link).toEqual({ state: "refused", message: "By invite only.", needsInvite: true });
    page.setInvite("0000-0000-0000-0000");
    await until(page.link, (l) => l.state === "refused" && relay.dialed === 2);
    page.setInvite(relay.invite);
    await until(page.link, (l) => l.state === "online");
    expect(relay.dialed).toBe(3);
  });

  it("redials while the relay is down, and reports that it cannot be reached", async () => {
    relay.down = true;
    const page = openPage(relay);
    const link = await until(page.link, (l) => l.state === "connecting" && l.attempt >= 3);
    expect(link).toMatchObject({ lastError: "The relay at https://relay.test cannot be reached." });
    relay.down = false;
    await until(page.link, (l) => l.state === "online");
  });

  it("reconnects after a goodbye, not sooner than the relay allows", async () => {
    const page = openPage(relay);
    await until(page.link, (l) => l.state === "online");
    const before = Date.now();
    relay.goodbye(120);
    const link = await until(page.link, (l) => l.state === "connecting");
    expect(link.state === "connecting" && link.retryAt).toBeGreaterThanOrEqual(before + 120);
    await until(page.link, (l) => l.state === "online");
    expect(Date.now() - before).toBeGreaterThanOrEqual(115);
  });

  it("rejects an invalid address", async () => {
    const page = openPage(relay);
    await expect(page.setRelayUrl("ftp://x")).rejects.toThrow("https://relay.example.org");
    await expect(page.setRelayUrl("http://192.168.1.5")).rejects.toThrow("over https");
  });
});

describe("pairing", () => {
  it("shows a code, proves it and reaches the device", async () => {
    const page = openPage(relay);
    const pairing = page.startPairing();
    const { code, command } = await untilStep(pairing.state, "showing");
    expect(command).toBe(`scorel pair ${code} --relay https://relay.test`);
    await device.redeem(code.toLowerCase());
    expect(await untilStep(pairing.state, "done")).toMatchObject({ deviceId: device.identity.id, label: "workshop" });
    expect(page.devices.get()).toEqual([{ id: device.identity.id, label: "workshop", online: true }]);
    const answer = await page.host(device.identity.id).request("list_projects", {});
    expect(answer).toEqual({ projects: [] });
  });

  it("redeems a code that the machine shows", async () => {
    const page = openPage(relay);
    const pairing = page.redeemPairing(device.showCode());
    await untilStep(pairing.state, "done");
    await page.host(device.identity.id).request("get_host", {});
  });

  it.each([
    ["no code at all", () => "hello", /not a pairing code/],
    ["a code that nobody shows", () => "ZZZZ-0000-0000", /No machine shows this code/],
    ["a mistyped secret", () => wrongSecret(device.showCode()), /do not have the same code/],
  ])("fails with a sentence for %s", async (_, code, message) => {
    const page = openPage(relay);
    const { message: said } = await untilStep(page.redeemPairing(code()).state, "failed");
    expect(said).toMatch(message);
    expect(relay.bindings.size).toBe(0);
    expect(await until(page.devices, (d) => d !== null)).toEqual([]);
  });

  it("does not pair when a relay swaps in a key of its own", async () => {
    const mallory = await FakeDevice.create("workshop");
    const page = openPage(relay);
    const pairing = page.startPairing();
    const { code } = await untilStep(pairing.state, "showing");
    // The relay names Mallory's keys; the device at the other end is the real one.
    relay.describe = (peer) => ({
      ...peer,
      id: mallory.identity.id,
      signKey: toBase64url(mallory.identity.signKey),
      sealKey: toBase64url(mallory.identity.sealKey),
    });
    await device.redeem(code);
    expect((await untilStep(pairing.state, "failed")).message).toMatch(/do not have the same code/);
    expect(await loadPins(await openDb(), relay.authority)).toEqual([]);
  });

  it("gets a new code when the connection is lost while one is shown", async () => {
    const page = openPage(relay);
    const pairing = page.startPairing();
    const first = await untilStep(pairing.state, "showing");
    relay.cut();
    await untilStep(pairing.state, "requesting");
    const second = await untilStep(pairing.state, "showing");
    expect(second.code).not.toBe(first.code);
    await device.redeem(second.code);
    await untilStep(pairing.state, "done");
  });

  it("moves to another relay that is chosen while a code is shown", async () => {
    const other = new FakeRelay("other.test");
    other.add(device);
    const page = openPage(relay, {}, undefined, dialOneOf(relay, other));
    const pairing = page.startPairing();
    await untilStep(pairing.state, "showing");
    await page.setRelayUrl(other.url);
    await untilStep(pairing.state, "requesting");
    expect((await untilStep(pairing.state, "showing")).command).toContain(`--relay ${other.url}`);
  });

  it("completes although the connection is lost before the relay confirms it", async () => {
    const page = openPage(relay);
    const pairing = page.startPairing();
    const { code } = await untilStep(pairing.state, "showing");
    relay.cutAtBinding = true;
    await device.redeem(code);
    await untilStep(pairing.state, "done");
    expect(relay.seen.get().filter((f) => f.type === "entry_hello")).toHaveLength(2);
    await page.host(device.identity.id).request("list_projects", {});
  });

  it("burns the code when a person cancels", async () => {
    const page = openPage(relay);
    const pairing = page.startPairing();
    await untilStep(pairing.state, "showing");
    pairing.cancel();
    await untilStep(pairing.state, "failed");
    await until(relay.seen, (frames) => frames.some((f) => f.type === "pair_reject"));
    expect(relay.slots.size).toBe(0);
  });
});

describe("devices", () => {
  it("follows presence and reopens the channel, whatever the back-off is", async () => {
    const page = openPage(relay, { backoffBase: 3_600_000, backoffMax: 3_600_000 });
    const host = page.host(await pairPage(page, device));
    await until(host.status, (s) => s === "open");
    relay.setOnline(device, false);
    await until(host.status, (s) => s === "offline");
    await expect(host.request("list_projects", {})).rejects.toThrow("cannot be reached");
    relay.setOnline(device, true);
    await until(host.status, (s) => s === "open");
  });

  it("carries requests over a reconnect", async () => {
    const page = openPage(relay);
    const host = page.host(await pairPage(page, device));
    await until(host.status, (s) => s === "open");
    relay.cut();
    await until(host.status, (s) => s === "connecting");
    expect(await host.request("list_projects", {})).toEqual({ projects: [] });
  });

  it("carries large messages both ways at once", async () => {
    const page = openPage(relay);
    const host = page.host(await pairPage(page, device));
    await until(host.status, (s) => s === "open");
    const echoed: string[] = [];
    device.intercept = (r) => {
      if (r.type !== "send_prompt") {
        return undefined;
      }
      echoed.push(r.clientKey);
      return { type: "response", result: { text: r.text } };
    };
    const texts = Array.from({ length: 4 }, () => randomText(2_000_000));
    const answers = await Promise.all(
      texts.map((text, n) => host.request("send_prompt", { sessionId: "s", clientKey: `${n}`, text })),
    );
    expect(answers.every((answer, n) => (answer as unknown as { text: string }).text === texts[n])).toBe(true);
    expect(echoed).toEqual(["0", "1", "2", "3"]);
    expect(relay.seen.get().filter((f) => f.type === "open_channel")).toHaveLength(1);
  });

  it("passes on errors of the host", async () => {
    const page = openPage(relay);
    const host = page.host(await pairPage(page, device));
    device.intercept = (r) =>
      r.type === "add_project" ? { type: "error", kind: 6, message: "no such folder" } : undefined;
    await expect(host.request("add_project", { path: "/x" })).rejects.toMatchObject({
      kind: 6,
      message: "no such folder",
    });
  });

  it("stops at once when the binding is revoked, and shows it after a reload", async () => {
    const page = openPage(relay);
    const host = page.host(await pairPage(page, device));
    await until(host.status, (s) => s === "open");
    relay.revoke(device);
    await until(host.status, (s) => s === "revoked");
    await expect(host.request("list_projects", {})).rejects.toThrow("Pair again");
    closePages();
    const again = openPage(relay);
    const untold = { id: device.identity.id, label: "workshop", online: false, revoked: true, untold: true };
    expect(await until(again.devices, (d) => d !== null)).toEqual([untold]);
    await again.forgetDevice(device.identity.id);
    await until(again.devices, (d) => d?.length === 0);
  });

  it("stops retrying when its access expires, and retries on request", async () => {
    const page = openPage(relay);
    const host = page.host(await pairPage(page, device));
    await until(host.status, (s) => s === "open");
    relay.expire(device, true);
    await until(host.status, (s) => s === "expired");
    const opened = () => relay.seen.get().filter((f) => f.type === "open_channel").length;
    const before = opened();
    await expect(host.request("list_projects", {})).rejects.toThrow("cannot be reached");
    expect(opened()).toBe(before);
    expect(page.devices.get()?.[0]?.revoked).toBeUndefined();
    page.reconnectNow();
    await expect.poll(opened).toBe(before + 1);
    relay.expire(device, false);
    await expect
      .poll(() => {
        page.reconnectNow();
        return host.status.get();
      })
      .toBe("open");
    expect(await host.request("list_projects", {})).toEqual({ projects: [] });
  });

  it("forgets a device at the relay too", async () => {
    const page = openPage(relay);
    const id = await pairPage(page, device);
    await page.forgetDevice(id);
    expect(relay.bindings.size).toBe(0);
    expect(page.devices.get()).toEqual([]);
    expect(page.host(id).status.get()).not.toBe("open");
  });

  it("refuses a device whose keys are not the pinned ones", async () => {
    const page = openPage(relay);
    const id = await pairPage(page, device);
    closePages();
    const db = await openDb();
    const [pin] = await loadPins(db, relay.authority);
    const other = await FakeDevice.create();
    await savePin(db, { ...(pin as NonNullable<typeof pin>), sealKey: other.identity.sealKey });
    const again = openPage(relay);
    const devices = await until(again.devices, (d) => d?.[0]?.problem !== undefined);
    expect(devices).toEqual([
      { id, label: "workshop", online: false, problem: expect.stringContaining("presents different keys") },
    ]);
    await expect(again.host(id).request("get_host", {})).rejects.toThrow("presents different keys");
    expect(relay.seen.get().filter((f) => f.type === "open_channel").length).toBe(0);
  });

  it("remain when another relay is chosen", async () => {
    const other = new FakeRelay("other.test");
    const page = openPage(relay, {}, undefined, dialOneOf(relay, other));
    const id = await pairPage(page, device);
    const host = page.host(id);
    await until(host.status, (s) => s === "open");
    await page.setRelayUrl(other.url);
    await until(page.relayUrl, (url) => url === other.url);
    await expect.poll(() => other.entries.size).toBe(1);
    expect(host.status.get()).toBe("open");
    expect(page.devices.get()).toEqual([{ id, label: "workshop", online: true }]);
    expect(await host.request("list_projects", {})).toEqual({ projects: [] });
    expect(await loadPins(await openDb(), relay.authority)).toMatchObject([{ id, state: "bound", url: relay.url }]);
  });

  it("uses the label that the host sends inside the seal", async () => {
    const page = openPage(relay);
    device.intercept = (r) =>
      r.type === "get_host" ? { type: "response", result: { host: { label: "the real name" } } } : undefined;
    page.host(await pairPage(page, device));
    await until(page.devices, (d) => d?.[0]?.label === "the real name");
  });

  it("does not use a device that the relay lists and this browser never paired with", async () => {
    const page = openPage(relay);
    await until(page.link, (l) => l.state === "online");
    closePages();
    relay.bindings.add(`${page.me.get()?.id} ${device.identity.id}`);
    const again = openPage(relay);
    const devices = await until(again.devices, (d) => d !== null);
    expect(devices?.[0]).toMatchObject({ id: device.identity.id, problem: expect.stringContaining("Pair with it") });
    await expect(again.host(device.identity.id).request("get_host", {})).rejects.toThrow("does not hold the keys");
  });

  it("drops a channel whose records were tampered with, and opens a new one", async () => {
    const page = openPage(relay);
    const host = page.host(await pairPage(page, device));
    await until(host.status, (s) => s === "open");
    const [entry] = [...relay.entries];
    const [channel] = [...(entry?.channels.keys() ?? [])];
    relay.sendRecord(entry as NonNullable<typeof entry>, channel as number, new Uint8Array(64));
    await until(host.status, (s) => s === "connecting");
    await until(host.status, (s) => s === "open");
    expect(relay.seen.get()).toContainEqual({ type: "close_channel", channel, reason: "seal_broken" });
  });

  it("detects a silent connection", async () => {
    const page = openPage(relay, { probeAfter: 40, probeWait: 20 });
    const host = page.host(await pairPage(page, device));
    await until(host.status, (s) => s === "open");
    const dialed = relay.dialed;
    device.intercept = (r) => (r.type === "get_host" ? null : undefined);
    await until(page.link, (l) => l.state !== "online");
    await until(page.link, (l) => l.state === "online");
    expect(relay.dialed).toBeGreaterThan(dialed);
  });

  it.each([true, false])("detects a silent relay without an open channel to an online device: %s", async (online) => {
    const page = openPage(relay);
    await pairPage(page, device);
    closePages();
    device.online = online;
    const again = openPage(relay, { probeAfter: 40, probeWait: 20 });
    await until(again.link, (l) => l.state === "online");
    relay.silent = true;
    const lost = await until(again.link, (l) => l.state === "connecting" && l.lastError !== null);
    expect(lost).toMatchObject({ lastError: "The connection went silent." });
    relay.silent = false;
    await until(again.link, (l) => l.state === "online");
  });
});

// Returns text that deflates to no less than three quarters.
function randomText(bytes: number): string {
  return toBase64(randomBytes((bytes / 4) * 3));
}

function wrongSecret(code: string): string {
  return `${code.slice(0, -1)}${code.endsWith("0") ? "1" : "0"}`;
}
