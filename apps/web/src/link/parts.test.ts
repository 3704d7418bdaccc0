// @vitest-environment node
import { splitRecords } from "@scorel/protocol/wire";
import { describe, expect, it, vi } from "vitest";
import { labelFromUserAgent } from "../api/label";
import { parseRelayUrl } from "../api/relay-url";
import { findUnsupported } from "../api/support";
import { Outbound } from "./outbound";
import { backoff, TIMING } from "./timing";

describe("parseRelayUrl", () => {
  it.each([
    ["https://Relay.Example.org", "wss://relay.example.org/v1/connect", "relay.example.org"],
    ["https://relay.example.org:443/", "wss://relay.example.org/v1/connect", "relay.example.org"],
    ["http://127.0.0.1:8080", "ws://127.0.0.1:8080/v1/connect", "127.0.0.1:8080"],
    ["ws://localhost:80", "ws://localhost/v1/connect", "localhost"],
    [" wss://r.test:8443/anything?x#y ", "wss://r.test:8443/v1/connect", "r.test:8443"],
    ["http://[::1]:9000", "ws://[::1]:9000/v1/connect", "[::1]:9000"],
  ])("reads %s", (text, socket, authority) => {
    expect(parseRelayUrl(text)).toMatchObject({ socket, authority });
  });

  it.each([
    ["http://localhost:8080", true],
    ["http://127.1.2.3", true],
    ["http://[::1]", true],
    ["http://127.0.0.1.example.org", false],
    ["http://192.168.1.5", false],
  ])("recognizes whether %s is this machine", (text, loopback) => {
    expect(parseRelayUrl(text).loopback).toBe(loopback);
  });

  it.each(["", "relay.example.org", "ftp://x", "javascript:alert(1)", "https://", "https://user:pass@relay.test"])(
    "rejects %j with a sentence",
    (text) => {
      expect(() => parseRelayUrl(text)).toThrow(/relay/);
    },
  );
});

describe("Outbound", () => {
  function bench(maxMessage = 1000) {
    const sink = {
      bufferedAmount: 0,
      sent: [] as (string | Uint8Array)[],
      send: (d: string | Uint8Array) => void sink.sent.push(d),
    };
    return { sink, outbound: new Outbound(sink, () => maxMessage) };
  }
  const record = (channel: number, size: number) => ({ channel, payload: new Uint8Array(size) });
  const shapes = (sent: (string | Uint8Array)[]) =>
    sent.map((d) => (typeof d === "string" ? d : splitRecords(new Uint8Array(d)).map((r) => r.channel)));

  it("batches records that wait together and keeps the order with frames", async () => {
    const { sink, outbound } = bench();
    outbound.push("open");
    outbound.push(record(1, 10));
    outbound.push(record(2, 10));
    outbound.push("close");
    outbound.push(record(3, 10));
    await Promise.resolve();
    expect(shapes(sink.sent)).toEqual(["open", [1, 2], "close", [3]]);
  });

  it("keeps a message within its limit", async () => {
    const { sink, outbound } = bench(100);
    for (const channel of [1, 2, 3]) {
      outbound.push(record(channel, 40));
    }
    await Promise.resolve();
    expect(shapes(sink.sent)).toEqual([[1, 2], [3]]);
  });

  it("waits while the socket is full, and continues when it has drained", async () => {
    vi.useFakeTimers();
    try {
      const { sink, outbound } = bench();
      sink.bufferedAmount = 1 << 20;
      outbound.push("later");
      await vi.advanceTimersByTimeAsync(100);
      expect(sink.sent).toEqual([]);
      sink.bufferedAmount = 0;
      await vi.advanceTimersByTimeAsync(100);
      expect(sink.sent).toEqual(["later"]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("reports a queue that exceeds its bound", () => {
    const { outbound } = bench();
    const half = "x".repeat(40 * 1024 * 1024);
    expect(outbound.push(half)).toBe(true);
    expect(outbound.push(half)).toBe(false);
  });
});

describe("backoff", () => {
  it("grows, never exceeds its bound and varies", () => {
    for (let attempt = 0; attempt < 60; attempt++) {
      const wait = backoff(TIMING, attempt);
      expect(wait).toBeGreaterThanOrEqual(Math.min(TIMING.backoffMax, TIMING.backoffBase * 2 ** attempt) / 2);
      expect(wait).toBeLessThanOrEqual(TIMING.backoffMax);
    }
    expect(new Set(Array.from({ length: 20 }, () => backoff(TIMING, 5))).size).toBeGreaterThan(1);
  });
});

describe("labelFromUserAgent", () => {
  it.each([
    ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0 Safari/537.36", "Chrome on Linux"],
    ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/156.0 Safari/537.36 Edg/156.0", "Edge on Windows"],
    ["Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) Version/26.0 Mobile Safari/604.1", "Safari on iPhone"],
    ["Mozilla/5.0 (Android 16; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0", "Firefox on Android"],
    ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) Version/26.0 Safari/605.1", "Safari on Mac"],
    ["", "Browser on an unknown system"],
  ])("reads %j", (userAgent, want) => {
    expect(labelFromUserAgent(userAgent)).toBe(want);
  });
});

describe("findUnsupported", () => {
  const good = {
    isSecureContext: true,
    crypto: { subtle: {} },
    indexedDB: {},
    Worker: {},
    WebSocket: {},
    CompressionStream: {},
    location: { hostname: "192.168.1.5", port: "8080", protocol: "http:" },
  };
  it("finds nothing wrong with a supported page", () => {
    expect(findUnsupported(good)).toBeNull();
  });
  it.each([
    [{ isSecureContext: false }, /https.*http:\/\/localhost:8080/],
    [{ crypto: {} }, /current Chrome/],
    [{ indexedDB: undefined }, /private browsing/],
    [{ Worker: undefined }, /current Chrome/],
    [{ WebSocket: undefined }, /current Chrome/],
    [{ CompressionStream: undefined }, /current Chrome/],
  ])("of %j says what to do", (change, advice) => {
    const found = findUnsupported({ ...good, ...change });
    expect(found?.reason).toMatch(/\.$/);
    expect(found?.advice).toMatch(advice);
  });
});
