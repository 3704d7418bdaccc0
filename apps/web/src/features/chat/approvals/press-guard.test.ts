import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { setInSight } from "../../../app/testing/browser";
import { PointerTrack } from "./pointer-track";
import { PressGuard, SETTLE } from "./press-guard";

const stops: (() => void)[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  setInSight("[data-area]");
});
afterEach(() => {
  for (const stop of stops.splice(0)) {
    stop();
  }
  document.body.replaceChildren();
  vi.useRealTimers();
});

/** Moves the mouse, or a pointer of another type. */
function move(clientX: number, clientY: number, pointerType = "mouse", type = "pointermove") {
  window.dispatchEvent(Object.assign(new MouseEvent(type, { clientX, clientY }), { pointerType }));
}

const inside = [150, 20] as const;
const outside = [150, 300] as const;

/**
 * Returns a guard of one button of 100 by 40 at 100,0; `before` is the pointer's initial position. The area is the row
 * of the button, or the whole card.
 */
function guarded(before?: readonly [number, number], cover?: Element, whole = false) {
  const card = document.createElement("div");
  const area = whole ? card : document.createElement("div");
  area.setAttribute("data-area", "");
  const button = document.createElement("button");
  button.setAttribute("data-guarded", "allow");
  let top = 0;
  button.getBoundingClientRect = () => new DOMRect(100, top, 100, 40);
  card.append(...(whole ? [] : [area]), ...(cover ? [cover] : []));
  area.append(button);
  document.body.append(card);
  const pointer = new PointerTrack();
  stops.push(pointer.listen());
  if (before) {
    move(...before);
  }
  let open: readonly string[] = [];
  const guard = new PressGuard({ area, card, pointer, onChange: (names) => (open = names) });
  stops.push(() => guard.stop());
  return { guard, isOpen: () => open.includes("allow"), place: (at: number) => (top = at) };
}

/** Returns a function that says which part of the area of the next guard is in view. */
function viewed() {
  const look: ((entries: object[]) => void)[] = [];
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(callback: (entries: object[]) => void) {
        look.push(callback);
      }
      observe(): void {}
      disconnect(): void {}
    },
  );
  stops.push(() => vi.unstubAllGlobals());
  return (intersectionRatio: number) =>
    look[0]?.([
      { intersectionRatio, intersectionRect: new DOMRect(0, 0, 100, 40), rootBounds: new DOMRect(0, 0, 400, 800) },
    ]);
}

const wait = (time = SETTLE) => vi.advanceTimersByTime(time);

describe("PressGuard", () => {
  it("opens after the button has been visible for a while, for a pointer from elsewhere", () => {
    const { guard, isOpen } = guarded(outside);
    wait(SETTLE - 1);
    expect(isOpen()).toBe(false);
    wait(1);
    expect(isOpen()).toBe(true);
    move(...inside);
    guard.begin("allow", true);
    expect(guard.counts("allow")).toBe(true);
  });

  it("opens for a pointer that was never seen", () => {
    const { isOpen } = guarded();
    wait();
    expect(isOpen()).toBe(true);
  });

  it("stays closed under a resting pointer, until it has left and returned", () => {
    const { guard, isOpen } = guarded(inside);
    wait(10 * SETTLE);
    move(inside[0] + 3, inside[1] + 3);
    expect(isOpen()).toBe(false);
    guard.begin("allow", true);
    expect(guard.counts("allow")).toBe(false);
    move(...outside);
    move(...inside);
    guard.begin("allow", true);
    expect(guard.counts("allow")).toBe(true);
  });

  it("counts a pointer that left and returned meanwhile", () => {
    const { isOpen } = guarded(inside);
    wait(100);
    move(...outside);
    move(...inside);
    expect(isOpen()).toBe(false);
    wait(SETTLE - 100);
    expect(isOpen()).toBe(true);
  });

  it("does not restrict fingers and keys by the position of the mouse", () => {
    const { guard, isOpen } = guarded(inside);
    wait();
    expect(isOpen()).toBe(false);
    guard.begin("allow", false);
    expect(guard.counts("allow")).toBe(true);
    move(...outside, "touch");
    expect(isOpen()).toBe(false);
  });

  it("does not count a touch that began too early, however late it ends", () => {
    const { guard } = guarded();
    guard.begin("allow", false);
    wait(2 * SETTLE);
    expect(guard.counts("allow")).toBe(false);
    expect(guard.counts("allow")).toBe(true); // the next one, without a pointer
  });

  it("closes when it restarts, even for a press that has begun", () => {
    const { guard, isOpen } = guarded(outside);
    wait();
    move(...inside);
    guard.begin("allow", true);
    guard.restart();
    expect(isOpen()).toBe(false);
    expect(guard.counts("allow")).toBe(false);
    wait();
    // The button returned to the place under the pointer.
    expect(isOpen()).toBe(false);
  });

  it("treats a button that moved under the resting pointer as one that appeared there", () => {
    const { guard, isOpen, place } = guarded([150, 220]);
    wait();
    expect(isOpen()).toBe(true);
    place(200);
    guard.restart();
    wait();
    expect(isOpen()).toBe(false);
  });

  it("opens only while the tab is in front", () => {
    const state = vi.spyOn(document, "visibilityState", "get");
    const { isOpen } = guarded();
    state.mockReturnValue("hidden");
    document.dispatchEvent(new Event("visibilitychange"));
    wait(5 * SETTLE);
    expect(isOpen()).toBe(false);
    state.mockReturnValue("visible");
    document.dispatchEvent(new Event("visibilitychange"));
    wait();
    expect(isOpen()).toBe(true);
  });

  it("stays closed while hidden", () => {
    setInSight("");
    const { isOpen } = guarded();
    wait(5 * SETTLE);
    expect(isOpen()).toBe(false);
  });

  it("opens a card with buttons everywhere once half of it is in view", () => {
    const visible = viewed();
    const { isOpen } = guarded(undefined, undefined, true);
    visible(0.49);
    wait(5 * SETTLE);
    expect(isOpen()).toBe(false);
    visible(0.6);
    wait();
    expect(isOpen()).toBe(true);
  });

  it("stays closed while a part of the buttons is out of view, or under the heading of the card", () => {
    const visible = viewed();
    const cover = document.createElement("div");
    cover.setAttribute("data-guard-cover", "");
    let bottom = 0;
    cover.getBoundingClientRect = () => new DOMRect(0, 0, 400, bottom);
    const { isOpen } = guarded(undefined, cover);
    visible(0.69);
    wait(5 * SETTLE);
    expect(isOpen()).toBe(false);
    visible(1);
    wait();
    expect(isOpen()).toBe(true);
    bottom = 12;
    document.dispatchEvent(new Event("scroll"));
    expect(isOpen()).toBe(false);
    wait(5 * SETTLE);
    expect(isOpen()).toBe(false);
    bottom = 0;
    document.dispatchEvent(new Event("scroll"));
    wait();
    expect(isOpen()).toBe(true);
  });
});
