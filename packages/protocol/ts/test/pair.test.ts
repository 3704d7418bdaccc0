import { describe, expect, test } from "vitest";
import codes from "../../testdata/vectors/codes.json";
import v from "../../testdata/vectors/pair.json";
import { type Bytes, fromBase64url } from "../src/base64.ts";
import { generateKeys } from "../src/ident.ts";
import { CodeError, newCode, PairError, PairMachine, type Party, parseCode } from "../src/pair.ts";
import { hex, toHex, type VectorParty } from "./keys.ts";

describe("codes", () => {
  test.each(codes.good)("$text", ({ text, slot, secret, reveal }) => {
    const code = parseCode(text);
    expect(code.slot).toBe(slot);
    expect(toHex(code.secret)).toBe(secret);
    expect(code.reveal()).toBe(reveal);
  });

  test.each(codes.bad)("rejected: $why", ({ input }) => {
    expect(() => parseCode(input)).toThrow(CodeError);
  });

  test("a new code reads back and prints no secret", () => {
    const code = newCode("7K3M");
    expect(parseCode(code.reveal()).secret).toEqual(code.secret);
    expect(`${code} ${JSON.stringify({ code })}`).toBe('7K3M-****-**** {"code":"7K3M-****-****"}');
    expect(newCode("7K3M").reveal()).not.toBe(code.reveal());
    expect(() => newCode("7k3m")).toThrow(CodeError);
  });
});

function partyOf(p: VectorParty): Party {
  return { id: p.id, signKey: fromBase64url(p.signKey), sealKey: fromBase64url(p.sealKey) };
}

function machine(to: string, code: string): Promise<PairMachine> {
  const device = to === "dev";
  return PairMachine.create({
    code: parseCode(code),
    self: partyOf(device ? v.device : v.client),
    peer: partyOf(device ? v.client : v.device),
    creator: v.creator === to,
    nonce: hex(device ? v.deviceNonce : v.clientNonce),
  });
}

describe("ceremony", () => {
  test.each([
    ["dev", v.fromDevice, v.fromClient],
    ["cli", v.fromClient, v.fromDevice],
  ])("%s matches the vectors", async (to, says, hears) => {
    const m = await machine(to, v.code);
    const said: Bytes[] = [m.start()];
    for (const message of hears) {
      const reply = await m.handle(hex(message));
      if (reply) {
        said.push(reply);
      }
    }
    expect(said.map(toHex)).toEqual(says);
    expect(m.done).toBe(true);
  });

  test.each(v.bad)("rejected: $why", async ({ to, code, heard, error }) => {
    const m = await machine(to, code);
    for (const message of heard.slice(0, -1)) {
      await m.handle(hex(message));
    }
    const last = m.handle(hex(heard.at(-1) ?? ""));
    await expect(last).rejects.toEqual(expect.objectContaining({ name: "PairError", why: error }));
    expect(m.done).toBe(false);
    await expect(m.handle(hex(v.fromClient[0] ?? ""))).rejects.toThrow(PairError);
  });

  test("messages that arrive together are handled in order", async () => {
    const m = await machine("dev", v.code);
    const replies = await Promise.all(v.fromClient.map((message) => m.handle(hex(message))));
    expect(replies.map((r) => r && toHex(r))).toEqual([v.fromDevice[1], null]);
    expect(m.done).toBe(true);
  });

  test("a key swapped by the relay fails on both sides", async () => {
    const [device, client, middle] = await Promise.all(
      (["dev", "cli", "cli"] as const).map((kind) => generateKeys(kind)),
    );
    if (!device || !client || !middle) {
      throw new Error("no keys");
    }
    const code = newCode("7K3M");
    // The relay names itself to the device, and tells the client the truth.
    const host = await PairMachine.create({ code, self: device, peer: middle, creator: true });
    const entry = await PairMachine.create({ code, self: client, peer: device, creator: false });
    await host.handle(entry.start());
    const tag = await entry.handle(host.start());
    await expect(host.handle(tag ?? new Uint8Array(0))).rejects.toThrow(PairError);
    expect([host.done, entry.done]).toEqual([false, false]);
  });

  test("an id that does not match its keys, and two parties of one kind, are rejected at once", async () => {
    const code = parseCode(v.code);
    const device = partyOf(v.device);
    const client = partyOf(v.client);
    const creator = true;
    const liar = { ...client, sealKey: device.sealKey };
    await expect(PairMachine.create({ code, self: device, peer: liar, creator })).rejects.toThrow("does not match");
    await expect(PairMachine.create({ code, self: device, peer: device, creator })).rejects.toThrow("own kind");
  });
});
