// @vitest-environment node
import { afterEach, beforeEach, expect, test } from "vitest";
import { closePages, freshBrowser, openPage, pairPage, until } from "../../test-support/bench";
import { FakeDevice } from "../../test-support/device";
import type { ModelSession } from "../../test-support/model-session";
import { Random } from "../../test-support/random";
import { FakeRelay } from "../../test-support/relay";
import type { SessionState, SessionView } from "./contract";
import { CUSTOM_LEAF } from "./types";

let relay: FakeRelay;
let device: FakeDevice;
let model: ModelSession;

beforeEach(async () => {
  freshBrowser();
  relay = new FakeRelay();
  device = await FakeDevice.create();
  relay.add(device);
  model = device.session("ses_1");
});

afterEach(closePages);

async function openLong(lines: number, window: number): Promise<SessionView> {
  model.windowSize = window;
  for (let i = 0; i < lines; i++) {
    model.userMessage(`line ${i}`, `k${i}`, "cli_other");
  }
  const page = openPage(relay);
  await pairPage(page, device);
  const view = page.host(device.identity.id).session("ses_1");
  await until(view.state, (s) => s.status === "live");
  return view;
}

const asked = () => device.requests.filter((name) => name === "get_entries").length;
const ids = (state: SessionState) => state.place?.entries.map((each) => each.id);

test("a distant entry is fetched with the entries around it in one request", async () => {
  const view = await openLong(100, 10);
  expect(await view.seek("e20")).toBe("here");
  const { place, entries } = view.state.get();
  expect(place?.entries).toEqual(model.log.slice(14, 24));
  expect(place).toMatchObject({ tip: "e24", earlier: "some", later: "some" });
  expect(entries).toEqual(model.log.slice(-10));
  expect(asked()).toBe(1);
  expect(await view.seek("e20")).toBe("here");
  expect(await view.seek("e100")).toBe("here");
  expect(asked()).toBe(1);
  view.loadEarlier();
  await until(view.state, (s) => s.place?.entries.length === 20);
  expect(view.state.get().place?.entries).toEqual(model.log.slice(4, 24));
  view.leavePlace();
  expect(view.state.get()).toMatchObject({ place: null, earlier: "some" });
});

test("the range grows to the end and joins it; meanwhile events apply to the end", async () => {
  const view = await openLong(40, 10);
  await view.seek("e3");
  expect(ids(view.state.get())?.[0]).toBe("e1");
  model.userMessage("meanwhile", "k", "cli_other");
  for (let rounds = 0; view.state.get().place && rounds < 10; rounds++) {
    const before = view.state.get().place?.entries.length ?? 0;
    view.loadLater();
    view.loadLater(); // one at a time
    await until(view.state, (s) => (s.place?.entries.length ?? before + 1) > before);
  }
  const state = await until(view.state, (s) => s.entries.length === model.log.length);
  expect(state).toMatchObject({ place: null, earlier: "none" });
  expect(state.entries).toEqual(model.log);
});

test("an entry near the end joins it at once", async () => {
  const view = await openLong(30, 10);
  expect(await view.seek("e18")).toBe("here");
  const state = view.state.get();
  expect(state.place).toBeNull();
  expect(state.entries).toEqual(model.log.slice(12));
});

test("an entry of another branch, and an unknown one", async () => {
  model.userMessage("left", "left", "cli_other");
  const root = model.log[0];
  const view = await openLong(60, 10);
  const path = model.log[1];
  if (!root || !path) {
    throw new Error("the log is empty");
  }
  path.parentId = null; // the first line is on its own branch
  expect(await view.seek("e1")).toBe("elsewhere");
  expect(await view.seek("nobody")).toBe("missing");
  expect(view.state.get().place).toBeNull();
});

test("a moved leaf and a full reload of the log end the range", async () => {
  const view = await openLong(60, 10);
  await view.seek("e5");
  model.append({ type: "custom", customType: CUSTOM_LEAF, data: {} });
  await until(view.state, (s) => s.place === null);
  await view.seek("e5");
  relay.setOnline(device, false);
  await until(view.state, (s) => s.status === "offline");
  expect(view.state.get().place).not.toBeNull();
  expect(await view.seek("e6")).toBe("here");
  model.restart();
  for (let i = 0; i < 20; i++) {
    model.userMessage(`missed ${i}`, `missed${i}`, "cli_other");
  }
  relay.setOnline(device, true);
  const state = await until(view.state, (s) => s.status === "live");
  expect(state.place).toBeNull();
  expect(state.entries).toEqual(model.log.slice(-10));
});

// For any order of seeks, fetches, appends and cuts, the end equals a fresh load, and the range is a contiguous part of
// the log before it.
test.each([1, 2, 3, 4])("any order of jumps and cuts keeps the rule (%i)", async (seed) => {
  const random = new Random(seed);
  const view = await openLong(80, 12);
  for (let step = 0; step < 60; step++) {
    const dice = random.below(7);
    if (dice === 0) {
      void view.seek(`e${1 + random.below(model.log.length)}`);
    } else if (dice === 1) {
      view.loadEarlier();
    } else if (dice < 4) {
      view.loadLater();
    } else if (dice === 4) {
      view.leavePlace();
    } else if (dice === 5) {
      model.userMessage(`more ${step}`, `m${step}`, "cli_other");
    } else {
      await view.seek(`e${1 + random.below(model.log.length)}`);
    }
    check(view.state.get());
  }
  const state = await until(view.state, (s) => s.entries.at(-1)?.id === model.log.at(-1)?.id);
  check(state);
});

function check({ entries, place, earlier }: SessionState): void {
  const first = entries[0]?.id;
  const from = model.log.findIndex((each) => each.id === first);
  expect(entries).toEqual(model.log.slice(from, from + entries.length));
  expect(earlier === "none").toBe(from === 0);
  if (!place) {
    return;
  }
  const at = model.log.findIndex((each) => each.id === place.entries[0]?.id);
  expect(place.entries).toEqual(model.log.slice(at, at + place.entries.length));
  expect(at + place.entries.length).toBeLessThan(from + 1);
}
