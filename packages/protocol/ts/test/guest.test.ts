import { describe, expect, test } from "vitest";
import vectors from "../../testdata/vectors/guests.json";
import { toBase64url } from "../src/base64.ts";
import { GuestLinkError, guestFragment, guestIdentity, parseGuestLink } from "../src/guest.ts";
import { toHex } from "./keys.ts";

describe("vectors", () => {
  test.each(vectors.good)("$sessionId", async (c) => {
    const link = parseGuestLink(c.fragment);
    expect(toHex(link.seed)).toBe(c.seed);
    expect(toHex(link.proof)).toBe(c.proof);
    expect(link.device.id).toBe(c.device.id);
    expect(toBase64url(link.device.sealKey)).toBe(c.device.sealKey);
    expect([link.signedAt, link.expiresAt, link.sessionId]).toEqual([c.signedAt, c.expiresAt, c.sessionId]);
    expect(guestFragment(link)).toBe(c.fragment);
    const identity = await guestIdentity(link.seed);
    expect(identity.id).toBe(c.client.id);
    expect(toBase64url(identity.signKey)).toBe(c.client.signKey);
    expect(toBase64url(identity.sealKey)).toBe(c.client.sealKey);
    expect(identity.sealPrivate.extractable).toBe(false);
  });

  test.each(vectors.bad)("no link: $why", ({ fragment, newer }) => {
    const parse = () => parseGuestLink(fragment);
    expect(parse).toThrow(new GuestLinkError(newer ? "newer" : "damaged"));
  });
});

test("every truncation is detected", () => {
  const good = vectors.good[1]?.fragment ?? "";
  for (let i = 0; i < good.length; i++) {
    expect(() => parseGuestLink(good.slice(0, i))).toThrow(GuestLinkError);
  }
});
