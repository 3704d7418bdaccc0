import { describe, expect, test } from "vitest";
import ids from "../../testdata/vectors/ids.json";
import { fromBase64url } from "../src/base64.ts";
import { generateKeys, isId, type Kind, loadIdentity, newId, parseId, verifySignature } from "../src/ident.ts";
import { sha256 } from "../src/sha256.ts";
import { identityOf } from "./keys.ts";

test("the synchronous hash is SHA-256 at every length of the padding", async () => {
  for (let n = 0; n < 200; n++) {
    const message = crypto.getRandomValues(new Uint8Array(n));
    const want = new Uint8Array(await crypto.subtle.digest("SHA-256", message));
    expect(sha256(message)).toEqual(want);
  }
});

describe("vectors", () => {
  test.each(ids.parties)("$id", async (p) => {
    const id = await newId(p.kind as Kind, fromBase64url(p.signKey), fromBase64url(p.sealKey));
    expect(id).toBe(p.id);
    const { kind, sum } = parseId(id);
    expect(kind).toBe(p.kind);
    expect(sum).toHaveLength(20);
    expect((await identityOf(p)).id).toBe(p.id);
  });

  test.each(ids.badIds)("no id: $why", ({ input }) => {
    expect(() => parseId(input)).toThrow(TypeError);
    expect(isId(input)).toBe(false);
  });

  test.each(ids.badKeys)("no key: $why", ({ input }) => {
    let length = -1;
    try {
      length = fromBase64url(input).length;
    } catch {}
    expect(length).not.toBe(32);
  });
});

test("the parsed hash is the one that the id was made of", async () => {
  const [p] = ids.parties;
  if (!p) {
    throw new Error("no vectors");
  }
  const sum = parseId(p.id).sum;
  const text = new TextEncoder().encode("scorel id v1\0");
  const all = new Uint8Array([...text, ...fromBase64url(p.signKey), ...fromBase64url(p.sealKey)]);
  expect(sum).toEqual(new Uint8Array(await crypto.subtle.digest("SHA-256", all)).slice(0, 20));
});

test("keys are not extractable, sign, and survive cloning", async () => {
  const keys = await generateKeys("cli");
  expect(keys.id).toMatch(/^cli_[a-z2-7]{32}$/);
  for (const key of [keys.signPrivate, keys.sealPrivate]) {
    expect(key.extractable).toBe(false);
    await expect(crypto.subtle.exportKey("pkcs8", key)).rejects.toThrow();
  }
  const { kind, signKey, sealKey, signPrivate, sealPrivate } = keys;
  const again = await loadIdentity({ kind, signKey, sealKey, signPrivate, sealPrivate });
  expect(again.id).toBe(keys.id);
  const message = new TextEncoder().encode("hello");
  const signature = await again.sign(message);
  expect(await verifySignature(keys.signKey, message, signature)).toBe(true);
  expect(await verifySignature(keys.sealKey, message, signature)).toBe(false);
  signature[5] = (signature[5] ?? 0) ^ 1;
  expect(await verifySignature(keys.signKey, message, signature)).toBe(false);
});

test("two generated identities differ", async () => {
  const [a, b] = await Promise.all([generateKeys("dev"), generateKeys("dev")]);
  expect(a.id).not.toBe(b.id);
});

test("a key of the wrong length has no id", async () => {
  await expect(newId("dev", new Uint8Array(31), new Uint8Array(32))).rejects.toThrow(RangeError);
  await expect(newId("dev", new Uint8Array(32), new Uint8Array(33))).rejects.toThrow(RangeError);
});
