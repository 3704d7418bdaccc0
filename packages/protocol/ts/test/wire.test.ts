import { describe, expect, test } from "vitest";
import frames from "../../testdata/vectors/frames.json";
import login from "../../testdata/vectors/login.json";
import recordVectors from "../../testdata/vectors/records.json";
import {
  decodeControl,
  type EntryHello,
  encodeControl,
  encodeRecords,
  type HostHello,
  Kind,
  MAX_MESSAGE,
  MAX_RECORD_PAYLOAD,
  proofMessage,
  signHello,
  splitRecords,
  verifyHello,
  WireError,
} from "../src/wire.ts";
import { hex, identityOf, toHex } from "./keys.ts";

const badFrame = expect.objectContaining({ name: "WireError", kind: Kind.bad_frame });

describe("control frames", () => {
  test.each(frames.good)("$name", ({ text, means }) => {
    const frame = decodeControl(text, frames.limit);
    expect(frame).toStrictEqual(means);
    if (frame) {
      const encoded = encodeControl(frame);
      expect(JSON.parse(encoded)).toStrictEqual(means);
      expect(decodeControl(encoded, frames.limit)).toStrictEqual(means);
    }
  });

  test.each(frames.skip)("skipped: $why", ({ input }) => {
    expect(decodeControl(input, frames.limit)).toBeNull();
  });

  test.each(frames.bad)("rejected: $why", ({ input }) => {
    expect(() => decodeControl(input, frames.limit)).toThrow(badFrame);
  });

  test("the limit counts bytes and is inclusive", () => {
    const text = '{"type":"error","kind":1,"message":"é"}';
    const bytes = new TextEncoder().encode(text).length;
    expect(decodeControl(text, bytes)).not.toBeNull();
    expect(() => decodeControl(text, bytes - 1)).toThrow(badFrame);
  });
});

describe("records", () => {
  test.each(recordVectors.good)("$message", ({ message, records }) => {
    const data = records.map((r) => ({ channel: r.channel, payload: hex(r.payload) }));
    expect(toHex(encodeRecords(data))).toBe(message);
    expect(splitRecords(hex(message))).toEqual(data);
  });

  test.each(recordVectors.bad)("rejected: $why", ({ input }) => {
    expect(() => splitRecords(hex(input))).toThrow(WireError);
  });

  test("limits at their edges", () => {
    const largest = { channel: 0, payload: new Uint8Array(MAX_RECORD_PAYLOAD) };
    expect(splitRecords(encodeRecords([largest]))).toEqual([largest]);
    const over = { channel: 0, payload: new Uint8Array(MAX_RECORD_PAYLOAD + 1) };
    expect(() => encodeRecords([over])).toThrow(WireError);
    expect(() => encodeRecords([{ channel: 0, payload: new Uint8Array(0) }])).toThrow(WireError);
    expect(() => encodeRecords([{ channel: 2 ** 32, payload: new Uint8Array(1) }])).toThrow();
    expect(() => encodeRecords([{ channel: -1, payload: new Uint8Array(1) }])).toThrow(WireError);
    expect(() => encodeRecords([largest, largest, largest, largest, largest])).toThrow(WireError);
    expect(() => splitRecords(new Uint8Array(MAX_MESSAGE + 1))).toThrow(WireError);
  });

  test("a record read from the middle of a buffer", () => {
    const whole = hex(`ffff${recordVectors.good[0]?.message}`);
    expect(splitRecords(whole.subarray(2))).toEqual([{ channel: 1, payload: hex("61") }]);
  });
});

describe("login", () => {
  test.each(login.good)("$authority", async (c) => {
    const identity = await identityOf(c.party);
    const nonce = hex(c.nonce);
    expect(toHex(proofMessage(identity.id, c.authority, nonce))).toBe(c.message);
    const hello = await signHello(identity, { authority: c.authority, label: c.label }, nonce);
    expect(hello).toStrictEqual(JSON.parse(c.hello));
    expect(await verifyHello(hello, nonce)).toBe(true);
  });

  test.each(login.bad)("rejected: $why", async (c) => {
    const hello = decodeControl(c.hello, 8192) as HostHello | EntryHello;
    expect(await verifyHello(hello, hex(c.nonce))).toBe(false);
  });
});
