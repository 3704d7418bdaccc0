import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startInTurn } from "./turn";

/** The locks of a browser: each has one holder, others wait. */
class Locks {
  readonly #held = new Map<string, Promise<unknown>>();

  async request(name: string, { signal }: { signal: AbortSignal }, run: () => Promise<unknown>): Promise<unknown> {
    const before = this.#held.get(name);
    const mine = (async () => {
      await before;
      if (!signal.aborted) {
        await run();
      }
    })();
    this.#held.set(
      name,
      mine.catch(() => {}),
    );
    const aborted = new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
    });
    return Promise.race([mine, aborted]);
  }
}

let inSight = false;

beforeEach(() => {
  inSight = false;
  vi.spyOn(document, "visibilityState", "get").mockImplementation(() => (inSight ? "visible" : "hidden"));
  vi.stubGlobal("navigator", { locks: new Locks(), hardwareConcurrency: 2 });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** A page that is shown when the test says so. */
function page() {
  let show = () => {};
  const shown = new Promise<void>((resolve) => {
    show = resolve;
  });
  const start = vi.fn(() => shown);
  return { start, show: () => show() };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test("a page in sight starts although another one holds the lock", async () => {
  const [behind, front] = [page(), page()];
  void startInTurn(behind.start);
  await settled();
  inSight = true;
  void startInTurn(front.start);
  expect(front.start).toHaveBeenCalledOnce();
});

test("without locks, a page out of sight starts at once", () => {
  vi.stubGlobal("navigator", {});
  const { start } = page();
  void startInTurn(start);
  expect(start).toHaveBeenCalledOnce();
});

test("as many pages out of sight start at a time as there are processors", async () => {
  const pages = [page(), page(), page()];
  const ends = pages.map(({ start }) => startInTurn(start));
  const started = () => pages.map(({ start }) => start.mock.calls.length);
  await settled();
  expect(started()).toEqual([1, 1, 0]);
  pages[1]?.show();
  await settled();
  expect(started()).toEqual([1, 1, 1]);
  for (const { show } of pages) {
    show();
  }
  await Promise.all(ends);
});

test("a page that comes into sight starts at once, and only once", async () => {
  const [first, other, second] = [page(), page(), page()];
  void startInTurn(first.start);
  void startInTurn(other.start);
  const end = startInTurn(second.start);
  await settled();
  expect(second.start).not.toHaveBeenCalled();
  document.dispatchEvent(new Event("visibilitychange"));
  expect(second.start).toHaveBeenCalledOnce();
  second.show();
  await end;
  first.show();
  await settled();
  expect(second.start).toHaveBeenCalledOnce();
});

test("a page that cannot start gives the lock to the next one", async () => {
  const broken = Array.from({ length: 2 }, () => startInTurn(() => Promise.reject(new Error("no file"))));
  const next = page();
  void startInTurn(next.start);
  for (const each of broken) {
    await expect(each).rejects.toThrow("no file");
  }
  await settled();
  expect(next.start).toHaveBeenCalledOnce();
});
