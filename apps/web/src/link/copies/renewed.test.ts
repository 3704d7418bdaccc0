// @vitest-environment node
import { afterEach, beforeEach, expect, it } from "vitest";
import { freshBrowser } from "../../../test-support/bench";
import { ModelSession } from "../../../test-support/model-session";
import type { SessionCopy } from "../../api/copies";
import type { WireEvent } from "../../api/messages";
import type { Requests } from "../../api/types";
import { Copies } from "./copies";
import { CopyStore } from "./store";

const DEVICE = "dev_1";
const SESSION = "ses_1";

let model: ModelSession;
let store: CopyStore;
let copies: Copies;
/** Called before the host answers get_entries. */
let beforeEntries: () => void;
let asked: string[];

beforeEach(() => {
  freshBrowser();
  model = new ModelSession(SESSION);
  asked = [];
  beforeEntries = () => {};
  store = new CopyStore({ clientId: "cli_1" });
  copies = worker();
  for (const n of [1, 2, 3]) {
    model.userMessage(`message ${n}`, `k${n}`, "cli_2");
  }
});

afterEach(() => {
  copies.stop();
  store.close();
});

/** A worker without memory. */
function worker(): Copies {
  const made = new Copies({
    store,
    isBound: async () => true,
    ask: async (_, name) => {
      asked.push(name);
      beforeEntries();
      return model.entries();
    },
    outbox: () => ({ items: () => [], update: async () => {} }) as never,
    delay: 1,
  });
  model.subscribers.clear();
  model.subscribers.add((event: WireEvent) => made.heard(DEVICE, { ...event, sessionId: SESSION }));
  return made;
}

type Anchors = Requests["resync_events"]["response"]["anchors"];

/** A page that has the session up to the anchors resyncs, as after its worker was started again. */
function resync(anchors: Partial<Anchors> = {}): Anchors {
  const fields = { sessionId: SESSION, ...anchors };
  copies.asked(DEVICE, "resync_events", fields);
  const answer = model.resync(fields as Anchors);
  copies.answered(DEVICE, "resync_events", fields, answer);
  return answer.anchors;
}

function restarted(): void {
  copies.stop();
  store = new CopyStore({ clientId: "cli_1" });
  copies = worker();
}

const kept = async () => {
  const value = (await store.read(DEVICE, SESSION))?.value as SessionCopy | undefined;
  return value?.entries.map(({ id }) => id);
};
const log = () => model.log.map(({ id }) => id);

it("a new worker continues the stored copy", async () => {
  const anchors = resync();
  await expect.poll(kept).toEqual(log());
  restarted();
  model.userMessage("missed", "k4", "cli_2");
  resync(anchors);
  await expect.poll(kept).toEqual(log());
  model.userMessage("live", "k5", "cli_2");
  await expect.poll(kept).toEqual(log());
  expect(asked).toEqual([]);
});

it("a new worker requests the end of a session whose copy is older than the page", async () => {
  const anchors = resync(); // nothing is stored yet
  restarted();
  model.userMessage("missed", "k4", "cli_2");
  beforeEntries = () => {
    beforeEntries = () => {};
    model.userMessage("appended meanwhile", "k5", "cli_2");
  };
  resync(anchors);
  await expect.poll(kept).toHaveLength(5);
  model.userMessage("live", "k6", "cli_2");
  await expect.poll(kept).toEqual(log());
  expect(asked).toEqual(["get_entries"]);
  expect(new Set(await kept()).size).toBe(6);
});
