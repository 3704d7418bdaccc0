// @vitest-environment node
import { beforeEach, describe, expect, it } from "vitest";
import { freshBrowser } from "../../test-support/bench";
import { ApiError, OfflineError } from "./contract";
import { IdbOutbox, type OutboxItem } from "./outbox";
import { Sender } from "./sender";
import { Store } from "./store";

const NONE: ReadonlySet<string> = new Set();

beforeEach(freshBrowser);

interface Bench {
  sender: Sender;
  /** Texts in the order in which they were delivered. */
  sent: string[];
  shown: Store<string[]>;
}

function bench(deliver: (item: OutboxItem) => Promise<void> = async () => {}, patience?: number): Bench {
  const sent: string[] = [];
  const shown = new Store<string[]>([]);
  const sender: Sender = new Sender({
    deviceId: "dev_1",
    sessionId: "ses_1",
    store: new IdbOutbox(),
    deliver: async (item) => {
      sent.push(item.text);
      await deliver(item);
    },
    onChange: () => shown.set(sender.outgoing([], NONE, null).map((o) => `${o.text}: ${o.state}`)),
    ...(patience === undefined ? {} : { patience }),
  });
  return { sender, sent, shown };
}

function until(shown: Store<string[]>, want: string[]): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (JSON.stringify(shown.get()) === JSON.stringify(want)) {
        stop();
        resolve();
      }
    };
    const stop = shown.subscribe(check);
    check();
  });
}

describe("Sender", () => {
  it("waits until the session is in step, then sends in order", async () => {
    const { sender, sent, shown } = bench();
    sender.send("a");
    sender.send("b");
    sender.send("c");
    expect(sent).toEqual([]);
    sender.goLive();
    await until(shown, ["a: host", "b: host", "c: host"]);
    expect(sent).toEqual(["a", "b", "c"]);
  });

  it("keeps a prompt that could not be delivered and sends it again with the same key", async () => {
    const keys: string[] = [];
    let reachable = false;
    const { sender, shown } = bench(async (item) => {
      keys.push(item.clientKey);
      if (!reachable) {
        sender.goOffline();
        throw new OfflineError("gone");
      }
    });
    sender.goLive();
    sender.send("a");
    await until(shown, ["a: device"]);
    reachable = true;
    sender.goLive();
    await until(shown, ["a: host"]);
    expect(new Set(keys).size).toBe(1);
  });

  it("goes past a prompt that gets no answer", async () => {
    const { sender, sent, shown } = bench(
      (item) => (item.text === "stuck" ? new Promise(() => {}) : Promise.resolve()),
      5,
    );
    sender.goLive();
    sender.send("stuck");
    sender.send("b");
    await until(shown, ["stuck: device", "b: host"]);
    expect(sent).toEqual(["stuck", "b"]);
  });

  it("tries the stuck one again when the session comes back, also while it still waits", async () => {
    let stuck = true;
    const { sender, sent, shown } = bench(() => (stuck ? new Promise(() => {}) : Promise.resolve()), 5);
    sender.goLive();
    sender.send("a");
    await until(shown, ["a: device"]);
    stuck = false;
    sender.goOffline();
    sender.goLive();
    await until(shown, ["a: host"]);
    expect(sent.length).toBeGreaterThan(0);
  });

  it("remembers over a reload what was refused and what was not sent", async () => {
    const first = bench(async (item) => {
      if (item.text === "bad") {
        throw new ApiError(9, "too large");
      }
      first.sender.goOffline();
      throw new OfflineError("gone");
    });
    first.sender.goLive();
    first.sender.send("bad");
    first.sender.send("good");
    await until(first.shown, ["bad: failed", "good: device"]);
    const second = bench();
    await until(second.shown, ["bad: failed", "good: device"]);
    second.sender.goLive();
    await until(second.shown, ["bad: failed", "good: host"]);
    expect(second.sent).toEqual(["good"]);
  });

  it("does not send what another tab discarded", async () => {
    const first = bench();
    first.sender.send("never mind");
    await until(first.shown, ["never mind: device"]);
    const outbox = new IdbOutbox();
    await expect.poll(() => outbox.load("dev_1", "ses_1")).toHaveLength(1);
    const second = bench();
    await until(second.shown, ["never mind: device"]);
    const [item] = await outbox.load("dev_1", "ses_1");
    first.sender.discard(item?.clientKey as string);
    await expect.poll(() => outbox.load("dev_1", "ses_1")).toHaveLength(0);
    second.sender.goLive();
    await until(second.shown, []);
    expect(second.sent).toEqual([]);
  });

  it("forgets what is in the log", async () => {
    const { sender, shown } = bench();
    sender.send("a");
    const key = sender.outgoing([], NONE, null)[0]?.clientKey as string;
    sender.settle(new Set([key]));
    await until(shown, []);
    await expect.poll(() => new IdbOutbox().load("dev_1", "ses_1")).toEqual([]);
  });

  it("shows the host's queue first and nothing twice", () => {
    const { sender } = bench();
    sender.send("mine");
    sender.send("also mine");
    const [mine] = sender.outgoing([], NONE, null);
    const queued = (clientKey: string, clientId: string) => ({ clientKey, clientId, text: clientKey, queuedAt: 1 });
    const queue = [queued("theirs", "cli_b"), queued(mine?.clientKey as string, "cli_a"), queued("logged", "cli_b")];
    const shown = sender.outgoing(queue, new Set(["logged"]), "cli_a");
    expect(shown.map((o) => [o.state, o.mine])).toEqual([
      ["host", false],
      ["host", true],
      ["device", true],
    ]);
  });
});
