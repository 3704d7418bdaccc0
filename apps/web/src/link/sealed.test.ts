// @vitest-environment node
import { type Bytes, type Channel, generateKeys, Handshake, utf8 } from "@scorel/protocol";
import { ACK_EVERY, MAX_MESSAGE, MAX_RECORD, WINDOW } from "@scorel/protocol/seal";
import { describe, expect, it } from "vitest";
import { randomBytes } from "../../test-support/random";
import { Sealed } from "./sealed";

/** The size of an acknowledgement's record: kind, number, tag. */
const ACK_RECORD = 1 + 8 + 16;

async function channels(): Promise<[Channel, Channel]> {
  const [device, client] = await Promise.all([generateKeys("dev"), generateKeys("cli")]);
  const i = new Handshake(client, device);
  const { reply, channel } = await new Handshake(device, client).answer(await i.start());
  return [await i.finish(reply), channel];
}

/** One direction of a path, which keeps its records until they are read. */
class Way {
  readonly records: Bytes[] = [];
  readonly messages: Bytes[] = [];
  /** The bytes put and not yet read, without acknowledgements, now and at most. */
  waiting = 0;
  most = 0;
  acks = 0;
  #watchers: (() => void)[] = [];

  readonly put = (record: Bytes): void => {
    this.records.push(record);
    if (record.length === ACK_RECORD) {
      this.acks++;
    } else {
      this.waiting += record.length;
      this.most = Math.max(this.most, this.waiting);
    }
    this.#changed();
  };

  /** Reads into `to` from now on; the promise rejects when `to` rejects a record. */
  async read(to: Sealed): Promise<never> {
    for (;;) {
      await this.until(() => this.records.length > 0);
      const record = this.records.shift() as Bytes;
      const message = await to.take(record);
      this.waiting -= record.length === ACK_RECORD ? 0 : record.length;
      if (message) {
        this.messages.push(message);
        this.#changed();
      }
    }
  }

  async until(want: () => boolean): Promise<void> {
    while (!want()) {
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  atWindow(): Promise<void> {
    return this.until(() => this.waiting > WINDOW - MAX_RECORD);
  }

  #changed(): void {
    for (const tell of this.#watchers.splice(0)) {
      tell();
    }
  }
}

/** Reads both directions until each has delivered its number of messages. */
async function exchange({ a, b, toA, toB }: Bench, wantA: number, wantB: number): Promise<void> {
  const done = Promise.all([
    toA.until(() => toA.messages.length === wantA),
    toB.until(() => toB.messages.length === wantB),
  ]);
  await Promise.race([done, toA.read(a), toB.read(b)]);
}

interface Bench {
  a: Sealed;
  b: Sealed;
  toA: Way;
  toB: Way;
}

async function bench(): Promise<Bench> {
  const [ours, theirs] = await channels();
  const [toA, toB] = [new Way(), new Way()];
  return { a: new Sealed(ours, toB.put), b: new Sealed(theirs, toA.put), toA, toB };
}

/** Waits long enough for WebCrypto to seal more than a window. */
async function passTurns(): Promise<void> {
  for (let n = 0; n < 30; n++) {
    await crypto.subtle.digest("SHA-256", randomBytes(MAX_RECORD));
  }
}

function same(a: Bytes | undefined, b: Bytes | undefined): boolean {
  return a !== undefined && b !== undefined && Buffer.compare(a, b) === 0;
}

describe("Sealed", () => {
  it("sends no more than a window until the other end reads", async () => {
    const ends = await bench();
    const { a, toA, toB } = ends;
    const message = randomBytes(3 * WINDOW);
    const sent = a.send(message);
    await toB.atWindow();
    await passTurns();
    expect(toB.waiting).toBeLessThanOrEqual(WINDOW);
    await exchange(ends, 0, 1);
    await sent;
    expect(same(toB.messages[0], message)).toBe(true);
    expect(toB.most).toBeLessThanOrEqual(WINDOW);
    expect(toA.acks).toBeGreaterThanOrEqual(Math.floor((3 * WINDOW) / (ACK_EVERY + MAX_RECORD)));
  });

  it("does not stop when both ends send large messages at once", async () => {
    const ends = await bench();
    const { a, b, toA, toB } = ends;
    const messages = Array.from({ length: 6 }, (_, n) => randomBytes(n % 2 ? 40 : 2_000_000));
    const sends = [a, b].flatMap((end) => messages.map((message) => end.send(message)));
    // Neither end reads before both have filled their windows.
    await Promise.all([toA.atWindow(), toB.atWindow()]);
    await exchange(ends, 6, 6);
    await Promise.all(sends);
    for (const way of [toA, toB]) {
      expect(messages.every((message, n) => same(way.messages[n], message))).toBe(true);
      expect(way.most).toBeLessThanOrEqual(WINDOW);
      expect(way.acks).toBeGreaterThan(0);
    }
  });

  it("acknowledges many small messages too", async () => {
    const ends = await bench();
    const { a, toA, toB } = ends;
    const small = randomBytes(900);
    const record = small.length + 17;
    const count = Math.ceil((2 * WINDOW) / record);
    const sent = Promise.all(Array.from({ length: count }, () => a.send(small)));
    await exchange(ends, 0, count);
    await sent;
    expect(toB.most).toBeLessThanOrEqual(WINDOW);
    expect(toA.acks).toBe(Math.floor(count / Math.ceil(ACK_EVERY / record)));
  });

  it("delivers nothing after its end, and releases every sender", async () => {
    const { a, toB } = await bench();
    const sends = [a.send(randomBytes(3 * WINDOW)), a.send(utf8("{}"))];
    await toB.atWindow();
    a.end();
    const before = toB.records.length;
    await Promise.all(sends);
    await a.send(utf8("{}"));
    expect(toB.records.length).toBe(before);
  });

  it("rejects a message over the limit and continues", async () => {
    const ends = await bench();
    await expect(ends.a.send(new Uint8Array(MAX_MESSAGE + 1))).rejects.toThrow(RangeError);
    await ends.a.send(utf8("{}"));
    await exchange(ends, 0, 1);
    expect(same(ends.toB.messages[0], utf8("{}"))).toBe(true);
  });

  it("rejects an acknowledgement of unsent bytes", async () => {
    const [ours, theirs] = await channels();
    const a = new Sealed(ours, () => {});
    await a.send(utf8("{}"));
    expect(await a.take(await theirs.sealAck(19n))).toBe(null);
    await expect(a.take(await theirs.sealAck(20n))).rejects.toThrow("more was acknowledged");
  });
});
