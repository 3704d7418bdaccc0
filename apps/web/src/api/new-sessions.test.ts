// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closePages, freshBrowser, keptPrompts as kept, openPage, pairPage, until } from "../../test-support/bench";
import { FakeDevice } from "../../test-support/device";
import { FakeRelay } from "../../test-support/relay";
import type { Host } from "./contract";

let relay: FakeRelay;
let device: FakeDevice;
/** The created sessions by client key, as a host keeps them. */
let made: Map<string, string>;
/** The recorded create_session requests. */
let asked: Record<string, unknown>[];

beforeEach(async () => {
  freshBrowser();
  relay = new FakeRelay();
  device = await FakeDevice.create();
  relay.add(device);
  made = new Map();
  asked = [];
  device.intercept = (request) => (request.type === "create_session" ? created(request) : undefined);
});

afterEach(closePages);

function created(request: object): object {
  const { type: _, requestId: __, ...fields } = request as Record<string, unknown>;
  asked.push(fields);
  const key = String(fields.clientKey);
  const id = made.get(key) ?? `ses_${made.size + 1}`;
  made.set(key, id);
  return { type: "response", result: { session: device.session(id).summary } };
}

async function openHost(): Promise<Host> {
  const page = openPage(relay);
  await pairPage(page, device);
  return page.host(device.identity.id);
}

describe("a new session", () => {
  it("begins with its first prompt and the chosen settings", async () => {
    const host = await openHost();
    const key = host.newSessions.begin({ projectId: "prj_1", agent: "reviewer", model: "big", mode: "plan" }, "hello");
    expect(host.newSessions.state.get()).toMatchObject([{ clientKey: key, text: "hello", state: "waiting" }]);
    const id = await host.newSessions.begun(key);
    const start = { projectId: "prj_1", agent: "reviewer", model: "big", mode: "plan" };
    expect(asked).toEqual([{ ...start, clientKey: key, prompt: { text: "hello" } }]);
    expect(device.requests).toContain("set_mode");
    await expect.poll(() => device.prompts).toEqual([{ clientKey: key, text: "hello" }]);
    expect(device.session(id).log).toHaveLength(1);
    expect(host.newSessions.state.get()).toEqual([]);
    await expect.poll(kept).toEqual([]);
  });

  it("is created once, with one prompt, when the answer to its creation is lost", async () => {
    let lose = true;
    device.intercept = (request) => {
      if (request.type !== "create_session") {
        return undefined;
      }
      const answer = created(request);
      if (!lose) {
        return answer;
      }
      lose = false;
      relay.cut();
      return null;
    };
    const host = await openHost();
    const key = host.newSessions.begin({ projectId: "prj_1" }, "hello");
    await host.newSessions.begun(key);
    expect(asked.length).toBeGreaterThan(1);
    expect(made.size).toBe(1);
    await expect.poll(() => device.prompts).toEqual([{ clientKey: key, text: "hello" }]);
  });

  it("is created once when the page is closed between the session and its prompt", async () => {
    device.intercept = (request) => {
      if (request.type !== "create_session") {
        return undefined;
      }
      created(request);
      return null; // the answer never arrives
    };
    const first = await openHost();
    const key = first.newSessions.begin({ projectId: "prj_1" }, "hello");
    await expect.poll(() => asked).toHaveLength(1);
    closePages();
    device.intercept = (request) => (request.type === "create_session" ? created(request) : undefined);
    const second = openPage(relay).host(device.identity.id);
    await until(second.newSessions.state, (list) => list.length === 1);
    await second.newSessions.begun(key);
    expect(made.size).toBe(1);
    await expect.poll(() => device.prompts).toEqual([{ clientKey: key, text: "hello" }]);
    await expect.poll(kept).toEqual([]);
  });

  it("keeps the reason when the host rejects it, and can be retried or discarded", async () => {
    device.intercept = (request) =>
      request.type === "create_session" ? { type: "error", kind: 8, message: "no model big" } : undefined;
    const host = await openHost();
    const key = host.newSessions.begin({ projectId: "prj_1", model: "big" }, "hello");
    await until(host.newSessions.state, ([first]) => first?.state === "failed");
    expect(host.newSessions.state.get()[0]?.error).toBe("no model big");
    host.newSessions.discard(key);
    expect(host.newSessions.state.get()).toEqual([]);
    await expect.poll(kept).toEqual([]);
    const again = host.newSessions.begin({ projectId: "prj_1", model: "big" }, "hello");
    await until(host.newSessions.state, ([first]) => first?.state === "failed");
    device.intercept = (request) => (request.type === "create_session" ? created(request) : undefined);
    host.newSessions.retry(again);
    await host.newSessions.begun(again);
    expect(made.size).toBe(1);
  });
});
