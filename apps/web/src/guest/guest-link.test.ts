// @vitest-environment node
import type { Identity } from "@scorel/protocol";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseRelayUrl } from "../api/relay-url";
import { TIMING } from "../link/timing";
import { GuestConnection } from "./guest-link";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Returns how long the page of a guest waits between attempts to reach a relay that is down, in milliseconds. */
async function waits(relay: string, count: number): Promise<number[]> {
  const dialed: number[] = [];
  const key = new Uint8Array(32);
  const made = new GuestConnection({
    link: {
      ...{ seed: key, device: { id: "dev_one", signKey: key, sealKey: key }, proof: key, sessionId: "s1" },
      ...{ signedAt: 0, expiresAt: Date.now() + 86_400_000 },
    },
    ...{ identity: {} as Identity, address: parseRelayUrl(relay), label: "guest", timing: TIMING },
    makeSocket: () => {
      dialed.push(Date.now());
      const socket = { onclose: () => {}, close: () => {} };
      queueMicrotask(() => socket.onclose());
      return socket as unknown as WebSocket;
    },
    tell: () => {},
    onEvent: () => {},
  });
  made.start();
  while (dialed.length <= count) {
    await vi.advanceTimersByTimeAsync(20);
  }
  made.stop();
  return dialed.slice(1).map((time, i) => time - (dialed[i] as number));
}

test("a relay on the same machine, which restarts within seconds, is dialed several times a second at first", async () => {
  for (const wait of await waits("http://127.0.0.1:7420", 20)) {
    expect(wait).toBeLessThanOrEqual(TIMING.backoffBase + 20);
  }
});

test("any other relay is dialed ever less often", async () => {
  expect((await waits("https://relay.example", 8)).at(-1)).toBeGreaterThan(10_000);
});
