// @vitest-environment node
import { createECDH } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";

interface Params {
  version: "aes128gcm";
  privateKey: ReturnType<typeof createECDH>;
  authSecret: Buffer;
}

// An implementation of RFC 8188 and 8291 by others. It has no types.
const ece = createRequire(import.meta.url)("http_ece") as { decrypt(body: Buffer, params: Params): Buffer };

// The host's test (apps/host/internal/push/sealed_test.go) writes this file, and fails if it is not what is sent.
const path = new URL("../../../host/internal/push/testdata/sealed.json", import.meta.url);
const sealed = JSON.parse(readFileSync(path, "utf8")) as Record<"private" | "auth" | "content" | "body", string>;
const bytes = (text: string) => Buffer.from(text, "base64url");

function open(body: Buffer, auth = bytes(sealed.auth)): string {
  const privateKey = createECDH("prime256v1");
  privateKey.setPrivateKey(bytes(sealed.private));
  return ece.decrypt(body, { version: "aes128gcm", privateKey, authSecret: auth }).toString("utf8");
}

test("another implementation of RFC 8291 decrypts a notification of the host", () => {
  expect(open(bytes(sealed.body))).toBe(sealed.content);
});

test("a notification that was changed, or is for another browser, does not open", () => {
  const changed = bytes(sealed.body);
  changed.writeUInt8(changed.readUInt8(200) ^ 1, 200);
  expect(() => open(changed)).toThrow();
  expect(() => open(bytes(sealed.body), Buffer.alloc(16, 1))).toThrow();
});
