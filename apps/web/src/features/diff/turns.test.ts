// @vitest-environment node
import { afterEach, expect, it, vi } from "vitest";
import { inTurn } from "./turns";

afterEach(() => vi.unstubAllGlobals());

it("runs one change before each frame, the nearest first, and none that was canceled", () => {
  const frames: (() => void)[] = [];
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => frames.push(run));
  const ran: string[] = [];
  inTurn(() => ran.push("far"), 900);
  const back = inTurn(() => ran.push("gone"), 1);
  inTurn(() => ran.push("near"), 100);
  back();
  const paint = () => frames.splice(0).map((run) => run());
  paint();
  expect(ran).toEqual(["near"]);
  paint();
  expect(ran).toEqual(["near", "far"]);
  expect(frames).toEqual([]);
});
