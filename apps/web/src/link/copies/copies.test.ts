// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closePages, freshBrowser, openPage, pairPage, until } from "../../../test-support/bench";
import { all, keptSessions, put, rows } from "../../../test-support/copies";
import { FakeDevice } from "../../../test-support/device";
import type { ModelSession } from "../../../test-support/model-session";
import { FakeRelay } from "../../../test-support/relay";
import type { Scorel, SessionState, SessionView } from "../../api/contract";
import type { Requests } from "../../api/types";
import { hostInfo, project } from "../../app/testing/builders";
import { CopyStore } from "./store";

const SESSION = "ses_1";

let relay: FakeRelay;
let device: FakeDevice;
let model: ModelSession;

beforeEach(async () => {
  freshBrowser();
  relay = new FakeRelay();
  device = await FakeDevice.create();
  relay.add(device);
  model = device.session(SESSION);
  model.userMessage("a word that is nowhere else", "k1", "cli_other");
});

afterEach(closePages);

const view = (page: Scorel, id = SESSION): SessionView => page.host(device.identity.id).session(id);
const live = (v: SessionView): Promise<SessionState> => until(v.state, (s) => s.status === "live");

/** Opens the session in a page and waits until a copy of it can be read. */
async function kept(): Promise<Scorel> {
  const page = openPage(relay);
  if (!(await bound(page))) {
    await pairPage(page, device);
  }
  await live(view(page));
  await written(page);
  return page;
}

async function bound(page: Scorel): Promise<boolean> {
  await until(page.link, (link) => link.state === "online");
  return (await until(page.devices, (devices) => devices !== null))?.length !== 0;
}

/** Waits until the copy ends where the session does. */
async function written(page: Scorel): Promise<void> {
  const store = new CopyStore({ clientId: page.me.get()?.id ?? "" });
  const last = async () => {
    const copy = (await store.read(device.identity.id, SESSION))?.value as SessionState | undefined;
    return copy?.entries.at(-1)?.id;
  };
  await expect.poll(last).toBe(model.log.at(-1)?.id);
  store.close();
}

/** Opens the session while the relay is down. */
async function away(): Promise<SessionView> {
  closePages();
  relay.down = true;
  return view(openPage(relay));
}

/** Waits until the copy is deleted and the page shows nothing of it. */
async function nothing(page: Scorel, id = SESSION): Promise<void> {
  const v = view(page, id);
  await expect.poll(keptSessions).not.toContain(id);
  // The worker answers this request after the one for the session.
  await page.host(device.identity.id).recall("get_host", {});
  expect(v.state.get()).toMatchObject({ status: "loading", savedAt: null, entries: [] });
}

describe("a copy of a session", () => {
  it("is shown without relay and host, with its time, and resynced from its end", async () => {
    const before = Date.now();
    await kept();
    const v = await away();
    const shown = await until(v.state, (s) => s.savedAt !== null);
    expect(shown).toMatchObject({ status: "reconnecting", entries: model.log, summary: model.summary });
    expect(shown.savedAt).toBeGreaterThanOrEqual(before);
    model.userMessage("later", "k2", "cli_other");
    const asked: object[] = [];
    device.intercept = (request) => {
      if (request.type === "resync_events") {
        asked.push(request);
      }
      return undefined;
    };
    relay.down = false;
    const now = await live(v);
    expect(now).toMatchObject({ savedAt: null, entries: model.log, live: model.live });
    expect(asked).toMatchObject([{ epoch: "saved", persistentLastSeq: 1, streamLastSeq: 0 }]);
  });

  it("follows events and holds the last 200 entries", async () => {
    const page = await kept();
    for (let i = 0; i < 250; i++) {
      model.userMessage(`line ${i}`, `line-${i}`, "cli_other");
    }
    await written(page);
    const v = await away();
    const shown = await until(v.state, (s) => s.savedAt !== null);
    expect(shown.entries).toEqual(model.log.slice(-200));
    expect(shown.earlier).toBe("some");
    relay.down = false;
    await live(v);
    v.loadEarlier();
    expect((await until(v.state, (s) => s.earlier === "none")).entries).toEqual(model.log);
  });

  it("continues after it was shown: a copy of a copy is one of the session", async () => {
    await kept();
    const v = await away();
    await until(v.state, (s) => s.savedAt !== null);
    relay.down = false;
    await live(v);
    model.userMessage("second", "k2", "cli_other");
    closePages();
    await kept();
    const again = await away();
    expect((await until(again.state, (s) => s.savedAt !== null)).entries).toEqual(model.log);
  });

  it("is nothing on the disk that can be read, under a key that cannot be taken out", async () => {
    await kept();
    const seen = JSON.stringify(await all("rows"));
    const bodies = (await all("bodies")) as { sealed: ArrayBuffer; iv: Uint8Array }[];
    expect(seen).not.toContain("word");
    expect(bodies.length).toBeGreaterThan(0);
    for (const { sealed } of bodies) {
      expect(Buffer.from(sealed).toString("latin1")).not.toContain("word");
    }
    for (const key of (await all("keys")) as CryptoKey[]) {
      await expect(crypto.subtle.exportKey("raw", key)).rejects.toThrow();
    }
  });

  it("gets a new IV with each write", async () => {
    const page = await kept();
    const ivOf = async () => {
      const bodies = (await all("bodies")) as { id: string; iv: Uint8Array }[];
      return Buffer.from(bodies.find(({ id }) => id === SESSION)?.iv ?? []).toString("hex");
    };
    const first = await ivOf();
    model.userMessage("again", "k2", "cli_other");
    await written(page);
    expect(await ivOf()).not.toBe(first);
  });
});

describe("a copy that was tampered with", () => {
  type Change = (row: Record<string, unknown>, body: { id: string; sealed: ArrayBuffer; iv: Uint8Array }) => void;
  const other = "ses_2";

  it.each<[string, string, Change]>([
    ["changed", SESSION, (_, { sealed }) => new Uint8Array(sealed).fill(1, 3, 4)],
    ["cut off", SESSION, (_, body) => (body.sealed = body.sealed.slice(0, 20))],
    ["under another IV", SESSION, (_, { iv }) => (iv[0] = (iv[0] ?? 0) ^ 1)],
    ["given another time", SESSION, (row) => (row.savedAt = 5)],
    ["given another project", SESSION, (row) => (row.projectId = "prj_other")],
    [
      "moved to another session",
      other,
      (row, body) => {
        row.id = other;
        body.id = other;
      },
    ],
  ])("%s is deleted and not shown", async (_, id, change) => {
    device.session(other);
    await kept();
    closePages();
    const [row] = (await all("rows")).filter((each) => (each as { id: string }).id === SESSION);
    const [body] = (await all("bodies")).filter((each) => (each as { id: string }).id === SESSION);
    change(row as never, body as never);
    await put("rows", row);
    await put("bodies", body);
    relay.down = true;
    await nothing(openPage(relay), id);
  });

  it("is not opened by another identity of the browser", async () => {
    const page = await kept();
    const other = new CopyStore({ clientId: "cli_other" });
    expect(page.me.get()?.id).not.toBe("cli_other");
    expect(await other.read(device.identity.id, SESSION)).toBeNull();
    expect(await keptSessions()).toEqual([]);
    other.close();
  });

  it("is not shown when it holds something else than a session", async () => {
    const page = await kept();
    closePages();
    const store = new CopyStore({ clientId: page.me.get()?.id ?? "" });
    await store.write({ deviceId: device.identity.id, projectId: "prj_1", id: SESSION }, { entries: "<script>" });
    store.close();
    relay.down = true;
    await nothing(openPage(relay));
  });
});

describe("copies are deleted", () => {
  const gone = () =>
    expect.poll(async () => [...(await all("rows")), ...(await all("bodies")), ...(await all("keys"))]).toEqual([]);

  it("when this browser is removed on the machine", async () => {
    await kept();
    relay.revoke(device);
    await gone();
  });

  it("when it was removed while no page was open", async () => {
    await kept();
    closePages();
    relay.revoke(device);
    openPage(relay);
    await gone();
  });

  it("when the machine is removed here, and not those of another", async () => {
    const attic = await FakeDevice.create("attic");
    relay.add(attic);
    attic.session(SESSION).userMessage("up here", "k1", "cli_other");
    const page = await kept();
    await pairPage(page, attic);
    await live(page.host(attic.identity.id).session(SESSION));
    await expect.poll(keptSessions).toEqual([SESSION, SESSION]);
    await page.forgetDevice(device.identity.id);
    await expect
      .poll(async () => new Set((await rows()).map(({ deviceId }) => deviceId)))
      .toEqual(new Set([attic.identity.id]));
    expect(await all("keys")).toHaveLength(1);
  });

  it("when the pin of their machine is gone without notice", async () => {
    const page = await kept();
    closePages();
    const store = new CopyStore({ clientId: page.me.get()?.id ?? "" });
    await store.write({ deviceId: "dev_gone", projectId: "prj_1", id: SESSION }, {});
    store.close();
    view(openPage(relay));
    await expect.poll(async () => (await rows()).some(({ deviceId }) => deviceId === "dev_gone")).toBe(false);
  });

  it("when their session is deleted", async () => {
    await kept();
    device.broadcast({ type: "session_deleted", id: SESSION });
    await expect.poll(keptSessions).toEqual([]);
  });

  it("when their session was deleted while nobody heard of it, and another is opened", async () => {
    const other = device.session("ses_2");
    const page = await kept();
    await live(view(page, "ses_2"));
    await expect.poll(async () => (await keptSessions()).sort()).toEqual([SESSION, "ses_2"]);
    closePages();
    device.sessions.delete(SESSION);
    device.intercept = (request) =>
      request.type === "list_sessions" ? { type: "response", result: { sessions: [other.summary] } } : undefined;
    await live(view(openPage(relay), "ses_2"));
    await expect.poll(keptSessions).toEqual(["ses_2"]);
  });

  it("not when a list omits a session that the host has", async () => {
    await kept();
    closePages();
    let checked = false;
    device.intercept = (request) => {
      checked ||= request.type === "get_entries";
      return request.type === "list_sessions" ? { type: "response", result: { sessions: [] } } : undefined;
    };
    await live(view(openPage(relay)));
    await expect.poll(() => checked).toBe(true);
    expect(await keptSessions()).toEqual([SESSION]);
  });

  it("when the host reports that the session does not exist", async () => {
    await kept();
    closePages();
    device.sessions.delete(SESSION);
    const v = view(openPage(relay));
    await until(v.state, (s) => s.status === "missing");
    await expect.poll(keptSessions).toEqual([]);
  });
});

describe("lists", () => {
  const projects = () => ({ projects: [project("prj_1", "/home/ada/lamps")] });
  const asked = { projectId: "prj_1", limit: 50 } satisfies Requests["list_sessions"]["request"];

  async function heardOf(page: Scorel): Promise<void> {
    const host = page.host(device.identity.id);
    device.intercept = ({ type }) => {
      switch (type) {
        case "get_host":
          return { type: "response", result: { host: hostInfo({ label: "workshop" }) } };
        case "list_projects":
          return { type: "response", result: projects() };
        case "list_sessions":
          return { type: "response", result: { sessions: [model.summary], total: 1 } };
        default:
          return undefined;
      }
    };
    await host.request("list_projects", {});
    await host.request("list_sessions", { ...asked, watching: true });
    await host.request("list_sessions", { ...asked, after: "x" });
  }

  it("are shown without relay and host, with all events applied", async () => {
    const page = await kept();
    await heardOf(page);
    device.broadcast({ type: "session_updated", session: { ...model.summary, name: "renamed" } });
    device.broadcast({ type: "session_updated", session: { ...model.summary, id: "ses_new" } });
    device.broadcast({ type: "session_updated", session: { ...model.summary, id: "ses_old", archived: true } });
    device.broadcast({ type: "session_updated", session: { ...model.summary, id: "ses_far", projectId: "prj_2" } });
    const host = page.host(device.identity.id);
    const names = async (of: typeof host) =>
      (await of.recall("list_sessions", asked))?.value.sessions.map(({ id, name }) => `${id} ${name}`);
    const all = ["ses_new ", "ses_1 renamed"];
    await expect.poll(() => names(host)).toEqual(all);
    closePages();
    relay.down = true;
    const again = openPage(relay);
    expect(await until(again.devices, (devices) => devices !== null)).toMatchObject([{ label: "workshop" }]);
    const later = again.host(device.identity.id);
    expect(await later.recall("list_projects", {})).toMatchObject({ value: projects() });
    expect(await names(later)).toEqual(all);
    expect(await later.recall("list_sessions", { projectId: "prj_2", limit: 50 })).toBeNull();
  });

  it("drop a deleted session", async () => {
    const page = await kept();
    await heardOf(page);
    const host = page.host(device.identity.id);
    await expect.poll(async () => (await host.recall("list_sessions", asked))?.value.total).toBe(1);
    device.broadcast({ type: "session_deleted", id: SESSION });
    await expect
      .poll(async () => (await host.recall("list_sessions", asked))?.value)
      .toEqual({ sessions: [], total: 0 });
  });
});

describe("a browser that refuses storage", () => {
  it("works without copies", async () => {
    const real = indexedDB.open.bind(indexedDB);
    indexedDB.open = (name: string, version?: number) => {
      if (name === "scorel-copies") {
        throw new DOMException("no", "SecurityError");
      }
      return real(name, version);
    };
    const page = openPage(relay);
    await pairPage(page, device);
    const v = view(page);
    expect((await live(v)).entries).toEqual(model.log);
    model.userMessage("more", "k2", "cli_other");
    await until(v.state, (s) => s.entries.length === 2);
    expect(await page.host(device.identity.id).recall("list_projects", {})).toBeNull();
  });
});
