import { afterEach, expect, it, vi } from "vitest";
import { whenSeen } from "./when-seen";

const hide = (hidden: boolean) => {
  vi.spyOn(document, "hidden", "get").mockReturnValue(hidden);
  document.dispatchEvent(new Event("visibilitychange"));
};

afterEach(() => vi.restoreAllMocks());

it("runs at once in a visible tab", () => {
  const run = vi.fn();
  whenSeen(run);
  expect(run).toHaveBeenCalledTimes(1);
});

it("waits in a hidden tab until it becomes visible, and runs once", () => {
  hide(true);
  const run = vi.fn();
  whenSeen(run);
  hide(true);
  expect(run).not.toHaveBeenCalled();
  hide(false);
  hide(false);
  expect(run).toHaveBeenCalledTimes(1);
});

it("never runs once it is canceled", () => {
  hide(true);
  const run = vi.fn();
  const stop = whenSeen(run);
  stop();
  hide(false);
  expect(run).not.toHaveBeenCalled();
});
