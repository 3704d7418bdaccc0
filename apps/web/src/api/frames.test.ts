// @vitest-environment node
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Frames } from "./frames";

const painted = new Map<number, (at: number) => void>();
let asked = 0;
let now = 0;

beforeEach(() => {
  vi.useFakeTimers();
  painted.clear();
  now = 0;
  vi.stubGlobal("requestAnimationFrame", (run: (at: number) => void) => {
    painted.set(++asked, run);
    return asked;
  });
  vi.stubGlobal("cancelAnimationFrame", (id: number) => painted.delete(id));
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Paints the next frame, the given number of milliseconds after the last one. */
function frame(after = 1000 / 60): void {
  now += after;
  const due = [...painted];
  painted.clear();
  for (const [, run] of due) {
    run(now);
  }
}

/** Returns which frames had a run, while changes never stop. */
function runsIn(distances: number[]): boolean[] {
  const frames = new Frames();
  let ran = false;
  const callback = () => {
    ran = true;
  };
  return distances.map((after) => {
    ran = false;
    frames.request(callback);
    frame(after);
    return ran;
  });
}

it("runs a callback once at the next frame, however often it was requested", () => {
  const frames = new Frames();
  const callback = vi.fn();
  frames.request(callback);
  frames.request(callback);
  expect(callback).not.toHaveBeenCalled();
  frame();
  frame();
  frame();
  expect(callback).toHaveBeenCalledOnce();
  vi.runAllTimers();
  expect(callback).toHaveBeenCalledOnce();
});

it("leaves every second frame free, and more when frames are late", () => {
  expect(runsIn([16, 17, 17, 17, 16])).toEqual([true, false, true, false, true]);
  expect(runsIn([16, 17, 60, 17, 17, 17])).toEqual([true, false, false, false, true, false]);
  expect(runsIn([16, 17, 900, 17, 17, 17, 17])).toEqual([true, false, false, false, false, true, false]);
});

it("skips the frame of a key press, but keeps running while a key is held down", () => {
  const keyboard = new EventTarget();
  const frames = new Frames(keyboard);
  const press = () => keyboard.dispatchEvent(new Event("keydown"));
  let runs = 0;
  const callback = () => {
    runs++;
  };
  const paint = (key: boolean): number => {
    frames.request(callback);
    if (key) {
      press();
    }
    const before = runs;
    frame();
    return runs - before;
  };
  expect([true, false, false, true, false].map(paint)).toEqual([0, 1, 0, 0, 1]);
  const held = Array.from({ length: 12 }, () => paint(true));
  expect(held.filter(Boolean).length).toBeGreaterThanOrEqual(2);
});

it("runs by a timer while no frames are painted", () => {
  const frames = new Frames();
  const callback = vi.fn();
  frames.request(callback);
  vi.advanceTimersByTime(200);
  expect(callback).toHaveBeenCalledOnce();
  frames.request(callback);
  vi.advanceTimersByTime(200);
  expect(callback).toHaveBeenCalledTimes(2);
});

it("ends a pause when the page is hidden", () => {
  const frames = new Frames();
  const callback = vi.fn();
  frames.request(callback);
  frame();
  frames.request(callback);
  vi.advanceTimersByTime(200);
  expect(callback).toHaveBeenCalledTimes(2);
});
