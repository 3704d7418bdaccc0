// @vitest-environment node
import { createHash } from "node:crypto";
import { toBase64 } from "@scorel/protocol/base64";
import { afterEach, beforeEach, expect, it } from "vitest";
import { closePages, freshBrowser, openPage, pairPage, until } from "../../../test-support/bench";
import { all, rows } from "../../../test-support/copies";
import { FakeDevice } from "../../../test-support/device";
import { FakeRelay } from "../../../test-support/relay";
import type { Scorel } from "../../api/contract";
import { fetchImage } from "../../api/images";
import { ImageParts, imageId } from "./images";

const SESSION = "ses_1";
const PART = 600;

let relay: FakeRelay;
let device: FakeDevice;
/** How often the host was asked for a part. */
let asked: number;

/** A GIF of one pixel, followed by the given bytes. */
function gif(...more: number[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array([0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0, 0, 0, ...more]);
}

/** A message with an image, as in the log. */
const pictured = (bytes: Uint8Array) => ({
  type: "message",
  message: {
    role: "user",
    content: [{ type: "image", data: "", mimeType: "image/gif", sha256: hashOf(bytes), size: bytes.length }],
    timestamp: 1,
  },
});

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

const image = gif(...new Array(1500).fill(7));
const other = gif(9);

beforeEach(async () => {
  freshBrowser();
  asked = 0;
  relay = new FakeRelay();
  device = await FakeDevice.create();
  relay.add(device);
  device.session(SESSION).userMessage("look at this", "k1", "cli_other");
  const images = new Map([image, other].map((bytes) => [hashOf(bytes), bytes]));
  device.intercept = (request) => {
    const { type, sha256 = "", offset = 0 } = request as { type: string; sha256?: string; offset?: number };
    if (type !== "get_blob") {
      return undefined;
    }
    asked++;
    const bytes = images.get(sha256) ?? new Uint8Array();
    const next = offset + PART < bytes.length ? { next: offset + PART } : {};
    const data = toBase64(bytes.slice(offset, offset + PART));
    return { type: "response", result: { mimeType: "image/gif", size: bytes.length, data, ...next } };
  };
});

afterEach(closePages);

const host = (page: Scorel) => page.host(device.identity.id);
const show = async (page: Scorel, bytes = image) => {
  const blob = await fetchImage(host(page), SESSION, hashOf(bytes));
  return new Uint8Array(await blob.arrayBuffer());
};
const keptImages = async () => (await rows()).filter(({ id }) => id.startsWith("image "));

/** Shows an image in a page and waits until it is stored. */
async function shown(): Promise<Scorel> {
  const page = openPage(relay);
  await pairPage(page, device);
  await until(host(page).session(SESSION).state, (s) => s.status === "live");
  expect(await show(page)).toEqual(image);
  await expect.poll(keptImages).toHaveLength(1);
  return page;
}

it("a shown image is available without relay and host, and is not requested again", async () => {
  await shown();
  expect(asked).toBe(3);
  expect((await keptImages())[0]?.id).toBe(imageId({ sessionId: SESSION, sha256: hashOf(image) }));
  closePages();
  relay.down = true;
  expect(await show(openPage(relay))).toEqual(image);
  relay.down = false;
  expect(asked).toBe(3);
});

it("an image is nothing on the disk that can be read", async () => {
  await shown();
  const bodies = (await all("bodies")) as { id: string; sealed: ArrayBuffer }[];
  const body = bodies.find(({ id }) => id.startsWith("image "));
  const text = Buffer.from(body?.sealed ?? new ArrayBuffer(0));
  expect(text.length).toBeGreaterThan(1500);
  expect(text.includes("image/gif")).toBe(false);
  expect(text.includes(toBase64(image).slice(0, 40))).toBe(false);
});

it("images go when this browser is removed on the machine", async () => {
  await shown();
  relay.revoke(device);
  await expect.poll(async () => [...(await all("rows")), ...(await all("bodies")), ...(await all("keys"))]).toEqual([]);
});

it("images go with their session", async () => {
  await shown();
  device.broadcast({ type: "session_deleted", id: SESSION });
  await expect.poll(async () => (await rows()).filter(({ id }) => !id.startsWith("list "))).toEqual([]);
});

it("an image with the bytes of another one is not stored", async () => {
  const page = await shown();
  const answer = device.intercept;
  device.intercept = (request) => answer({ ...request, sha256: hashOf(other) } as never);
  await fetchImage(host(page), SESSION, "00".repeat(32));
  device.intercept = answer;
  await show(page, other);
  await expect.poll(keptImages).toHaveLength(2);
  const ids = (await keptImages()).map(({ id }) => id);
  expect(ids).not.toContain(imageId({ sessionId: SESSION, sha256: "00".repeat(32) }));
});

it("parts are assembled for two tabs at once, and a missing part yields nothing", () => {
  const parts = new ImageParts();
  const part = (byte: number, next?: number) => ({
    ...{ mimeType: "image/gif", size: 3, data: toBase64(new Uint8Array([byte])) },
    ...(next ? { next } : {}),
  });
  const at = (offset: number) => ({ sessionId: SESSION, sha256: "h", offset });
  expect(parts.take("a", at(0), part(1, 1))).toBeNull();
  expect(parts.take("a", at(0), part(1, 1))).toBeNull();
  expect(parts.take("a", at(1), part(2, 2))).toBeNull();
  expect(parts.take("a", at(1), part(2, 2))).toBeNull();
  const whole = parts.take("a", at(2), part(3));
  expect(whole?.map((each) => each[0])).toEqual([1, 2, 3]);
  expect(parts.take("a", at(2), part(3))).toBeNull();
  expect(parts.take("b", at(1), part(2))).toBeNull();
});

it("an image that no page has shown is loaded too, once", async () => {
  device.session(SESSION).append(pictured(image));
  const page = openPage(relay);
  await pairPage(page, device);
  await until(host(page).session(SESSION).state, (s) => s.status === "live");
  await expect.poll(keptImages).toHaveLength(1);
  expect(asked).toBe(3);
  device.session(SESSION).append(pictured(other));
  await expect.poll(keptImages).toHaveLength(2);
  expect(asked).toBe(4);
  closePages();
  relay.down = true;
  expect(await show(openPage(relay), other)).toEqual(other);
});
