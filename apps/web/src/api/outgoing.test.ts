// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closePages, freshBrowser, keptPrompts, openPage, pairPage, until } from "../../test-support/bench";
import { FakeDevice } from "../../test-support/device";
import { FakeRelay } from "../../test-support/relay";
import type { Scorel } from "./contract";
import { Drafts } from "./drafts";

let relay: FakeRelay;
let device: FakeDevice;

beforeEach(async () => {
  freshBrowser();
  relay = new FakeRelay();
  device = await FakeDevice.create();
  relay.add(device);
  device.session("ses_a");
  device.session("ses_b");
});

afterEach(closePages);

async function pairedPage(): Promise<Scorel> {
  const page = openPage(relay);
  await pairPage(page, device);
  return page;
}

const hostOf = (page: Scorel) => page.host(device.identity.id);
const sent = () => device.prompts.map((prompt) => prompt.text);

async function writeOffline(page: Scorel, text: string): Promise<void> {
  const view = hostOf(page).session("ses_a");
  await until(view.state, (s) => s.status === "live");
  relay.setOnline(device, false);
  await until(view.state, (s) => s.status === "offline");
  await view.send(text);
  view.release();
}

const draftKey = () => `${device.identity.id}/ses_b`;

async function keepDraft(text: string): Promise<void> {
  const drafts = new Drafts();
  drafts.keep(draftKey(), { text, images: [] });
  await drafts.flush();
  drafts.close();
}

async function keptDraft(): Promise<string> {
  const drafts = new Drafts();
  const { text } = await drafts.read(draftKey());
  drafts.close();
  return text;
}

describe("a waiting prompt", () => {
  it("is sent while another session is shown", async () => {
    const page = await pairedPage();
    await writeOffline(page, "for a");
    const other = hostOf(page).session("ses_b");
    expect(page.waiting.get()).toMatchObject([{ sessionId: "ses_a", text: "for a", error: null }]);
    relay.setOnline(device, true);
    await until(other.state, (s) => s.status === "live");
    await until(page.waiting, (waiting) => waiting.length === 0);
    expect(sent()).toEqual(["for a"]);
  });

  it("is sent by a page that was opened later and shows no session", async () => {
    await writeOffline(await pairedPage(), "for a");
    closePages();
    const page = openPage(relay);
    await until(page.waiting, (waiting) => waiting.length === 1);
    relay.setOnline(device, true);
    await until(page.waiting, (waiting) => waiting.length === 0);
    expect(sent()).toEqual(["for a"]);
    expect(await keptPrompts()).toEqual([]);
  });

  it("is shown in every tab, and sent once", async () => {
    const one = await pairedPage();
    const two = openPage(relay);
    await writeOffline(one, "for a");
    await until(two.waiting, (waiting) => waiting.length === 1);
    relay.setOnline(device, true);
    await until(one.waiting, (waiting) => waiting.length === 0);
    await until(two.waiting, (waiting) => waiting.length === 0);
    expect(sent()).toEqual(["for a"]);
  });

  it("outlasts the report of a relay that this browser was removed, and is sent once it is paired again", async () => {
    const page = await pairedPage();
    await writeOffline(page, "for a");
    await keepDraft("half a thought");
    relay.revoke(device);
    await until(hostOf(page).status, (status) => status === "revoked");
    closePages();
    const again = openPage(relay);
    await until(hostOf(again).status, (status) => status === "revoked");
    await until(again.waiting, (waiting) => waiting.length === 1);
    relay.setOnline(device, true);
    await pairPage(again, device);
    await until(again.waiting, (waiting) => waiting.length === 0);
    expect(sent()).toEqual(["for a"]);
    expect(await keptDraft()).toBe("half a thought");
  });

  it("is gone from the disk when the machine is removed here, and so are drafts", async () => {
    const page = await pairedPage();
    await writeOffline(page, "secret");
    await keepDraft("secret");
    await page.forgetDevice(device.identity.id);
    await until(page.waiting, (waiting) => waiting.length === 0);
    await expect.poll(keptPrompts).toEqual([]);
    await expect.poll(keptDraft).toBe("");
  });
});

describe("the first prompt of a session", () => {
  it("opens the same session in two tabs that show it", async () => {
    let made = 0;
    device.intercept = (request) => {
      if (request.type !== "create_session") {
        return undefined;
      }
      made++;
      return { type: "response", result: { session: device.session("ses_new").summary } };
    };
    const one = await pairedPage();
    const two = openPage(relay);
    await until(hostOf(one).status, (status) => status === "open");
    relay.setOnline(device, false);
    await until(hostOf(one).status, (status) => status === "offline");
    const key = hostOf(one).newSessions.begin({ projectId: "prj_1" }, "hello");
    await until(hostOf(two).newSessions.state, (list) => list.length === 1);
    relay.setOnline(device, true);
    expect(await hostOf(one).newSessions.begun(key)).toBe("ses_new");
    expect(await hostOf(two).newSessions.begun(key)).toBe("ses_new");
    await until(two.waiting, (waiting) => waiting.length === 0);
    expect(new Set(sent())).toEqual(new Set(["hello"]));
    expect(device.session("ses_new").log).toHaveLength(1);
    expect(made).toBeGreaterThan(0);
  });
});
