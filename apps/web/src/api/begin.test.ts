// @vitest-environment node
import { expect, it } from "vitest";
import { type BeginOptions, beginWorker } from "./begin";
import type { FromLink, PagePort, ToLink } from "./messages";

const around = { isSecureContext: true, crypto, indexedDB: 1, Worker: 1, WebSocket: 1, CompressionStream: 1 };
const start = { t: "start", relayUrl: "https://relay.test", label: "Firefox on Linux" } as const;

/** A port whose worker sends what the test makes it send. */
class FakePort implements PagePort {
  readonly posted: ToLink[] = [];
  onmessage: PagePort["onmessage"] = null;
  closed = false;

  postMessage(message: ToLink): void {
    this.posted.push(message);
  }

  close(): void {
    this.closed = true;
  }

  say(...messages: FromLink[]): void {
    this.onmessage?.({ data: messages } as MessageEvent<FromLink[]>);
  }
}

function begin(more: Partial<BeginOptions> = {}) {
  const ports: FakePort[] = [];
  const failures: (() => void)[] = [];
  const connect = beginWorker({
    connect: (onFailure) => {
      failures.push(onFailure);
      ports.push(new FakePort());
      return ports.at(-1) as FakePort;
    },
    ...{ around, start, pathname: "/" },
    ...more,
  });
  return { connect, ports, failures };
}

function messagesOn(port: PagePort): FromLink[] {
  const heard: FromLink[] = [];
  port.onmessage = ({ data }) => heard.push(...data);
  return heard;
}

const relay = { t: "relay", relayUrl: "https://relay.test" } as const;
const me = { t: "me", id: "cli_a", label: "a" } as const;
const devices = { t: "devices", devices: [] } as const;

it("starts the worker and asks for the device that the address names", () => {
  const { ports } = begin({ pathname: "/d/dev_a/s/ses_1" });
  expect(ports.map(({ posted }) => posted)).toEqual([[start, { t: "use", deviceId: "dev_a" }]]);
});

it("delivers messages that the worker sent before the page was loaded", () => {
  const { connect, ports } = begin();
  ports[0]?.say(me, relay);
  ports[0]?.say({ t: "devices", devices: null });
  const port = connect(() => {});
  const heard = messagesOn(port);
  ports[0]?.say({ ...devices, devices: [] });
  expect(heard).toEqual([me, relay, { t: "devices", devices: null }, devices]);
  port.close?.();
  expect(ports[0]?.closed).toBe(true);
});

it("does not start the worker a second time", () => {
  const { connect, ports } = begin();
  const port = connect(() => {});
  port.postMessage(start);
  port.postMessage({ t: "use", deviceId: "dev_b" });
  expect(ports[0]?.posted).toEqual([start, { t: "use", deviceId: "dev_b" }]);
});

it("leaves the start to the page when the worker needs a translation", () => {
  const { connect, ports } = begin({ start: null, pathname: "/d/dev_a" });
  expect(ports[0]?.posted).toEqual([]);
  connect(() => {}).postMessage(start);
  expect(ports[0]?.posted).toEqual([start]);
});

it("reports a failed worker to the page, whenever it failed", () => {
  let failures = 0;
  const before = begin();
  before.failures[0]?.();
  before.connect(() => failures++);
  expect(failures).toBe(1);
  const after = begin();
  after.connect(() => failures++);
  after.failures[0]?.();
  expect(failures).toBe(2);
});

it("connects the page to another worker when the first one ended", () => {
  const { connect, ports } = begin();
  connect(() => {});
  connect(() => {}).postMessage(start);
  expect(ports.map(({ posted }) => posted)).toEqual([[start], [start]]);
});

it("starts nothing in an unsupported browser", () => {
  const { connect, ports } = begin({ around: { ...around, isSecureContext: false } });
  expect(ports).toEqual([]);
  connect(() => {});
  expect(ports).toHaveLength(1);
});
