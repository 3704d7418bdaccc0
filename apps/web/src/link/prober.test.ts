// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Prober } from "./prober";
import { TIMING } from "./timing";

interface FakeConnection {
  lastHeard: number;
  failed: (string | null)[];
  fail(message: string | null): void;
}

class FakeDialer {
  open: FakeConnection | null = null;
  dialed = 0;

  connect(): FakeConnection {
    const connection: FakeConnection = {
      lastHeard: Date.now(),
      failed: [],
      fail: (message) => {
        connection.failed.push(message);
        this.open = null;
      },
    };
    this.open = connection;
    return connection;
  }

  now(): void {
    this.dialed++;
  }
}

let dialer: FakeDialer;
let prober: Prober;
/** When probes were sent, in milliseconds since the start. */
let asked: number[];
let devices: boolean;
let pairing: boolean;
let start: number;

beforeEach(() => {
  vi.useFakeTimers();
  start = Date.now();
  dialer = new FakeDialer();
  dialer.connect();
  asked = [];
  devices = true;
  pairing = false;
  const ask = () => {
    if (devices) {
      asked.push(Date.now() - start);
    }
    return devices;
  };
  prober = new Prober({ dialer, timing: TIMING, ask, pairing: () => pairing });
});

afterEach(() => {
  prober.stop();
  vi.useRealTimers();
});

const seconds = (n: number) => vi.advanceTimersByTime(n * 1000);

function receive(): void {
  if (dialer.open) {
    dialer.open.lastHeard = Date.now();
  }
}

describe("the connection of a visible page", () => {
  it("is probed after 10 s of silence, and closed 5 s later", () => {
    const connection = dialer.open;
    seconds(10);
    expect(asked).toEqual([10_000]);
    expect(connection?.failed).toEqual([]);
    seconds(5);
    expect(connection?.failed).toEqual(["The connection went silent."]);
    expect(dialer.dialed).toBe(1);
  });

  it("is kept while it answers, and probed every 10 s", () => {
    for (let i = 0; i < 3; i++) {
      seconds(10);
      seconds(1);
      receive();
    }
    seconds(10);
    expect(asked).toEqual([10_000, 21_000, 32_000, 43_000]);
    expect(dialer.dialed).toBe(0);
  });

  it("is not probed while it sends anything", () => {
    for (let i = 0; i < 12; i++) {
      seconds(5);
      receive();
    }
    expect(asked).toEqual([]);
  });

  it("is watched again after it was replaced", () => {
    seconds(15);
    const second = dialer.connect();
    seconds(15);
    seconds(5);
    expect(second.failed).toEqual(["The connection went silent."]);
  });
});

describe("the connection of a hidden page", () => {
  it("is probed after 25 s, and closed 10 s later", () => {
    prober.setVisible(false);
    const connection = dialer.open;
    seconds(24);
    expect(asked).toEqual([]);
    seconds(1);
    expect(asked).toEqual([25_000]);
    seconds(9);
    expect(connection?.failed).toEqual([]);
    seconds(1);
    expect(connection?.failed).toEqual(["The connection went silent."]);
  });

  it("is probed at once when the page becomes visible, even while a slow probe is pending", () => {
    prober.setVisible(false);
    seconds(26);
    prober.setVisible(true);
    expect(asked).toEqual([25_000, 26_000]);
    const connection = dialer.open;
    seconds(5);
    expect(connection?.failed).toEqual(["The connection went silent."]);
  });
});

describe("a page that wakes up", () => {
  it("probes at once, and once", () => {
    seconds(3);
    prober.wake();
    prober.wake();
    expect(asked).toEqual([3_000]);
  });

  it("does not probe a connection that has just sent something", () => {
    prober.wake();
    expect(asked).toEqual([]);
  });

  it("redials after a long silence if no peer can be probed, unless a code is shown", () => {
    devices = false;
    const connection = dialer.open;
    pairing = true;
    seconds(30);
    prober.wake();
    expect(connection?.failed).toEqual([]);
    pairing = false;
    prober.wake();
    expect(connection?.failed).toEqual([null]);
    expect(dialer.dialed).toBe(1);
  });
});
