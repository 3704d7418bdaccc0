import { describe, expect, test } from "vitest";
import v from "../../testdata/vectors/seal.json";
import { type Bytes, concat, utf8 } from "../src/base64.ts";
import { deflateRaw } from "../src/deflate.ts";
import { generateKeys, type Identity } from "../src/ident.ts";
import { CipherState } from "../src/noise.ts";
import {
  ACK_EVERY,
  Channel,
  HANDSHAKE_LEN,
  Handshake,
  MAX_MESSAGE,
  MAX_RECORD,
  SealBroken,
  split,
  WINDOW,
} from "../src/seal.ts";
import { dhKeys, hex, identityOf, toHex } from "./keys.ts";

async function vectorHandshakes(): Promise<{ i: Handshake; r: Handshake }> {
  const device = await identityOf(v.device);
  const client = await identityOf(v.client);
  return {
    i: new Handshake(client, device, () => dhKeys(v.clientEphemeral, v.clientEphemeralPublic)),
    r: new Handshake(device, client, () => dhKeys(v.deviceEphemeral, v.deviceEphemeralPublic)),
  };
}

async function connect(i: Handshake, r: Handshake): Promise<{ host: Channel; entry: Channel }> {
  const { reply, channel } = await r.answer(await i.start());
  return { host: channel, entry: await i.finish(reply) };
}

async function freshPair(): Promise<{ host: Channel; entry: Channel }> {
  const [device, client] = await Promise.all([generateKeys("dev"), generateKeys("cli")]);
  return connect(new Handshake(client, device), new Handshake(device, client));
}

/** Returns a channel and its peer's cipher, to send records that no Channel would. */
async function receiver(): Promise<{ send: CipherState; channel: Channel }> {
  const cipher = () => CipherState.of(new Uint8Array(32).fill(7));
  const send = await cipher();
  return { send, channel: new Channel(await cipher(), await cipher()) };
}

describe("vectors", () => {
  test("the handshake is the same, byte by byte", async () => {
    const { i, r } = await vectorHandshakes();
    const message1 = await i.start();
    expect(toHex(message1)).toBe(v.message1);
    const { reply } = await r.answer(message1);
    expect(toHex(reply)).toBe(v.message2);
    expect(reply).toHaveLength(HANDSHAKE_LEN);
    await i.finish(reply);
  });

  test.each([
    ["dev", v.toDevice],
    ["cli", v.toClient],
  ])("every record to %s opens", async (to, messages) => {
    const { i, r } = await vectorHandshakes();
    const { host, entry } = await connect(i, r);
    const channel = to === "dev" ? host : entry;
    for (const { message, records, acked } of messages) {
      const opened = await Promise.all(records.map((record) => channel.open(hex(record))));
      expect(opened.slice(0, -1).every((m) => m === null)).toBe(true);
      expect(new TextDecoder().decode(opened.at(-1) ?? undefined)).toBe(message);
      expect(opened.at(-1)).not.toBeNull();
      expect(channel.acked).toBe(BigInt(acked));
    }
  });

  test("short messages and acknowledgements seal to the same records", async () => {
    const { i, r } = await vectorHandshakes();
    const { host, entry } = await connect(i, r);
    for (const [channel, messages] of [
      [entry, v.toDevice],
      [host, v.toClient],
    ] as const) {
      for (const { message, records, acked } of messages.slice(0, 4)) {
        const ack = acked === "0" ? [] : [await channel.sealAck(BigInt(acked))];
        expect([...ack, ...(await channel.seal(utf8(message)))].map(toHex)).toEqual(records);
      }
    }
  });

  test("the window is that of the Go package", () => {
    expect([WINDOW, ACK_EVERY]).toEqual([v.window, v.ackEvery]);
  });

  test.each(v.bad)("rejected: $why", async ({ to, records }) => {
    const { i, r } = await vectorHandshakes();
    const { host, entry } = await connect(i, r);
    const [channel, good] = to === "dev" ? [host, v.toDevice[0]] : [entry, v.toClient[0]];
    for (const record of records.slice(0, -1)) {
      await channel.open(hex(record));
    }
    await expect(channel.open(hex(records.at(-1) ?? ""))).rejects.toThrow(SealBroken);
    await expect(channel.open(hex(good?.records[0] ?? ""))).rejects.toThrow(SealBroken);
  });

  test.each(v.badHandshakes)("rejected: $why", async ({ to, record }) => {
    const { i, r } = await vectorHandshakes();
    if (to === "dev") {
      await expect(r.answer(hex(record))).rejects.toThrow(SealBroken);
      return;
    }
    await i.start();
    await expect(i.finish(hex(record))).rejects.toThrow(SealBroken);
  });
});

describe("channel", () => {
  const noise = (n: number): Bytes => {
    const out = new Uint8Array(n);
    for (let at = 0; at < n; at += 65536) {
      crypto.getRandomValues(out.subarray(at, at + 65536));
    }
    return out;
  };

  test("messages of every size round-trip in both directions", async () => {
    const { host, entry } = await freshPair();
    for (const n of [0, 1, 1023, 1024, 1025, 65518, 65519, 65520, 131_072, 200_000]) {
      for (const message of [noise(n), new Uint8Array(n).fill(97)]) {
        for (const [from, to] of [
          [entry, host],
          [host, entry],
        ] as const) {
          const records = await from.seal(message);
          expect(records.every((r) => r.length <= MAX_RECORD)).toBe(true);
          const opened = await Promise.all(records.map((r) => to.open(r)));
          expect(toHex(opened.at(-1) ?? new Uint8Array(1))).toBe(toHex(message));
        }
      }
    }
  });

  test("calls that overlap keep their order", async () => {
    const { host, entry } = await freshPair();
    const texts = Array.from({ length: 50 }, (_, n) => `${n} `.repeat(n % 3 ? 1 : 900));
    const settled: number[] = [];
    const sealed = await Promise.all(
      texts.map(async (text, n) => {
        const records = await entry.seal(utf8(text));
        settled.push(n);
        return records;
      }),
    );
    expect(settled).toEqual(texts.map((_, n) => n));
    const opened = await Promise.all(sealed.flat().map((record) => host.open(record)));
    expect(opened.map((m) => new TextDecoder().decode(m ?? undefined))).toEqual(texts);
  });

  test("a message over the limit is rejected and the channel stays usable", async () => {
    const { host, entry } = await freshPair();
    await expect(entry.seal(new Uint8Array(MAX_MESSAGE + 1))).rejects.toThrow(RangeError);
    const [record] = await entry.seal(utf8("{}"));
    expect(await host.open(record ?? new Uint8Array(0))).toEqual(utf8("{}"));
  });

  test("a record over the limit breaks the channel, however good", async () => {
    for (const [size, ok] of [
      [MAX_RECORD, true],
      [MAX_RECORD + 1, false],
    ] as const) {
      const { send, channel } = await receiver();
      const plain = new Uint8Array(size - 16);
      plain[0] = 1;
      const opened = channel.open(await send.encrypt(plain));
      await (ok ? expect(opened).resolves.toHaveLength(size - 17) : expect(opened).rejects.toThrow(SealBroken));
    }
  });

  test("the largest message passes and a deflate bomb one byte larger does not", async () => {
    const { send, channel } = await receiver();
    const deflated = async (n: number): Promise<Bytes> => concat(Uint8Array.of(2), await deflateRaw(new Uint8Array(n)));
    const largest = await channel.open(await send.encrypt(await deflated(MAX_MESSAGE)));
    expect(largest).toHaveLength(MAX_MESSAGE);
    const bomb = await send.encrypt(await deflated(MAX_MESSAGE + 1));
    expect(bomb.length).toBeLessThan(MAX_RECORD);
    await expect(channel.open(bomb)).rejects.toThrow(SealBroken);
  });
});

describe("pieces and acknowledgements", () => {
  test("acknowledgements go between the pieces of a message", async () => {
    const { host, entry } = await freshPair();
    const message = crypto.getRandomValues(new Uint8Array(65536));
    const pieces = await split(concat(message, message.toReversed(), message));
    expect(pieces.length).toBeGreaterThan(2);
    const opened: (Bytes | null)[] = [];
    for (const [n, piece] of pieces.entries()) {
      const record = await entry.sealPiece(piece);
      expect(record).toHaveLength(piece.recordLen);
      opened.push(await host.open(record));
      if (n < pieces.length - 1) {
        expect(await host.open(await entry.sealAck(BigInt(n + 1)))).toBe(null);
      }
    }
    expect(opened.slice(0, -1).every((m) => m === null)).toBe(true);
    expect(opened.at(-1)).toEqual(concat(message, message.toReversed(), message));
    expect(host.acked).toBe(BigInt(pieces.length - 1));
    expect(entry.acked).toBe(0n);
  });

  test("a rejected acknowledgement does not change the count", async () => {
    const { send, channel } = await receiver();
    const ack = async (...body: number[]): Promise<Bytes | null> =>
      channel.open(await send.encrypt(Uint8Array.of(5, ...body)));
    expect(await ack(0, 0, 0, 0, 0, 1, 0, 0)).toBe(null);
    expect(await ack(0, 0, 0, 0, 0, 1, 0, 0)).toBe(null);
    expect(channel.acked).toBe(65536n);
    await expect(ack(0, 0, 0, 0, 0, 0, 255, 255)).rejects.toThrow(SealBroken);
    expect(channel.acked).toBe(65536n);
  });
});

describe("handshake", () => {
  test("a peer with other keys than the pinned ones cannot open a channel", async () => {
    const [device, client, thief] = await Promise.all(
      (["dev", "cli", "cli"] as const).map((kind) => generateKeys(kind)),
    );
    if (!device || !client || !thief) {
      throw new Error("no keys");
    }
    const message1 = await new Handshake(thief, device).start();
    await expect(new Handshake(device, client).answer(message1)).rejects.toThrow(SealBroken);
    const claimed: Identity = { ...thief, id: client.id };
    const forged = await new Handshake(claimed, device).start();
    await expect(new Handshake(device, client).answer(forged)).rejects.toThrow(SealBroken);
  });

  test("two parties of one kind, a wrong turn and a second use are rejected", async () => {
    const [device, client] = await Promise.all([generateKeys("dev"), generateKeys("cli")]);
    expect(() => new Handshake(client, client)).toThrow("one device and one client");
    expect(() => new Handshake(device, device)).toThrow("one device and one client");
    const i = new Handshake(client, device);
    const r = new Handshake(device, client);
    await expect(r.start()).rejects.toThrow("only the client starts");
    await expect(i.finish(new Uint8Array(48))).rejects.toThrow(SealBroken);
    await expect(i.answer(new Uint8Array(48))).rejects.toThrow(SealBroken);
    const message1 = await i.start();
    await expect(i.start()).rejects.toThrow("once");
    const { reply } = await r.answer(message1);
    await expect(r.answer(message1)).rejects.toThrow(SealBroken);
    await i.finish(reply);
    await expect(i.finish(reply)).rejects.toThrow(SealBroken);
  });
});
