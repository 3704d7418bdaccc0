// @vitest-environment node
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openFirst } from "./first-session";
import { FakeScorel, FakeSession } from "./testing/fake-scorel";

const loaded = async () => {};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function begin(pathname: string, loadPage: () => Promise<unknown> = loaded) {
  const scorel = new FakeScorel();
  const session = new FakeSession("ses_1", { status: "loading" });
  scorel.host("dev_a").sessions.set("ses_1", session);
  let done = false;
  const opened = openFirst(scorel, pathname, loadPage).then(() => {
    done = true;
  });
  return { session, opened, isDone: () => done };
}

it("waits for the session and for its page", async () => {
  let load = () => {};
  const { session, opened, isDone } = begin("/d/dev_a/s/ses_1", () => new Promise<void>((resolve) => (load = resolve)));
  expect(session.held).toBe(1);
  session.patch({ status: "live" });
  await vi.advanceTimersByTimeAsync(10);
  expect(isDone()).toBe(false);
  load();
  await opened;
  expect(session.held).toBe(0);
});

it("does not wait for long", async () => {
  const { opened, isDone } = begin("/d/dev_a/s/ses_1");
  await vi.advanceTimersByTimeAsync(100);
  expect(isDone()).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  await opened;
});

it("shows the page even if its code does not load", async () => {
  const { session, opened } = begin("/d/dev_a/s/ses_1", () => Promise.reject(new Error("gone")));
  session.patch({ status: "live" });
  await opened;
});

it("opens nothing at other addresses", async () => {
  const { session, opened } = begin("/d/dev_a");
  await opened;
  expect(session.held).toBe(0);
});
