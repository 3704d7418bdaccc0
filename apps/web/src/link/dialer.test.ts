// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Connection } from "./connection";
import { Dialer } from "./dialer";
import { TIMING } from "./timing";

const LOST = { message: "lost", refused: false, needsInvite: false, retryAfter: 0 };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Returns how long each of the first attempts waits while the relay cannot be reached, in milliseconds. */
function waits(near: boolean, count: number): number[] {
  const dialed: number[] = [];
  const dialer = new Dialer(
    TIMING,
    () => {
      dialed.push(Date.now());
      return { fail: () => {} } as unknown as Connection;
    },
    () => {},
    near,
  );
  dialer.now();
  for (let i = 0; i < count; i++) {
    dialer.ended(LOST);
    vi.advanceTimersToNextTimer();
  }
  dialer.stop();
  return dialed.slice(1).map((time, i) => time - (dialed[i] as number));
}

describe("a relay that cannot be reached", () => {
  it("is dialed several times a second at first if it is on this machine", () => {
    for (const wait of waits(true, 20)) {
      expect(wait).toBeLessThanOrEqual(TIMING.backoffBase);
    }
  });

  it("is dialed ever less often", () => {
    expect(waits(false, 8).at(-1)).toBeGreaterThan(10_000);
    expect(waits(true, 28).at(-1)).toBeGreaterThan(10_000);
  });
});
