// Everything that a relay may see: control frames (text messages) and data records
// (binary messages). It corresponds to the Go package wire; its limits, kinds and
// frame types are generated into gen/wire.ts.

import { type Bytes, concat, fromBase64, fromBase64url, toBase64, toBase64url, utf8 } from "./base64.ts";
import { checkFrame } from "./check.ts";
import {
  type EntryHello,
  type Frame,
  frameFields,
  type HostHello,
  Kind,
  MAX_MESSAGE,
  MAX_RECORD_PAYLOAD,
  RECORD_HEADER_LEN,
  VERSION,
} from "./gen/wire.ts";
import { type Identity, isId, newId, verifySignature } from "./ident.ts";

export { validSlot } from "./check.ts";
export * from "./gen/wire.ts";

/** A frame or record that must be rejected. `kind` is one of Kind. */
export class WireError extends Error {
  override name = "WireError";
  constructor(
    readonly kind: number,
    message: string,
  ) {
    super(message);
  }
}

/** Encodes a control frame. Byte fields must already be standard base64. */
export function encodeControl(frame: Frame): string {
  return JSON.stringify(frame);
}

/**
 * Decodes a control frame of at most `limit` bytes. Returns null for a type of a newer
 * version, which a logged-in peer skips; throws WireError (bad_frame) for any other
 * problem. Absent and null fields get their zero value, so that a list is never null;
 * unknown keys are dropped.
 *
 * It is synchronous, so that no data record overtakes the frame before it. It cannot
 * see how a number was written: it accepts 1.0 for 1, which Go rejects and no peer
 * writes.
 */
export function decodeControl(text: string, limit: number): Frame | null {
  // A string has at least as many bytes as code units, so a huge one need not be
  // encoded.
  if (text.length > limit || utf8(text).length > limit) {
    throw bad(`control frame is over the limit of ${limit} bytes`);
  }
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    throw bad("control frame is not a JSON object with a type");
  }
  if (!isObject(raw) || typeof raw.type !== "string" || raw.type === "") {
    throw bad("control frame has no type");
  }
  const type = raw.type;
  if (!Object.hasOwn(frameFields, type)) {
    return null;
  }
  const fields = frameFields[type as Frame["type"]];
  const frame = { type, ...readObject(raw, fields, type) } as Frame;
  const wrong = checkFrame(frame);
  if (wrong) {
    throw bad(`${type}: ${wrong}`);
  }
  return frame;
}

function bad(message: string): WireError {
  return new WireError(Kind.bad_frame, message);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Scalar = "string" | "int" | "u32" | "bool" | "bytes" | "id" | "key";
type Shape = string | { readonly [key: string]: Shape } | readonly [Shape];

function readObject(
  raw: Record<string, unknown>,
  fields: { readonly [key: string]: Shape },
  at: string,
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, shape] of Object.entries(fields)) {
    const value = readField(Object.hasOwn(raw, key) ? raw[key] : null, shape, `${at}.${key}`);
    if (value !== undefined) {
      out[key] = value;
    }
  }
  return out;
}

function readField(value: unknown, shape: Shape, at: string): unknown {
  if (typeof shape === "string") {
    const kind = shape.replace("?", "") as Scalar;
    const read = value === null ? zero(kind) : readScalar(value, kind, at);
    return shape.endsWith("?") && (read === "" || read === 0) ? undefined : read;
  }
  if (Array.isArray(shape)) {
    const items: unknown = value ?? [];
    if (!Array.isArray(items)) {
      throw bad(`${at} has the wrong type`);
    }
    return items.map((item, i) => readField(item, shape[0] as Shape, `${at}[${i}]`));
  }
  const object = value ?? {};
  if (!isObject(object)) {
    throw bad(`${at} has the wrong type`);
  }
  return readObject(object, shape as { readonly [key: string]: Shape }, at);
}

function zero(kind: Scalar): unknown {
  switch (kind) {
    case "int":
    case "u32":
      return 0;
    case "bool":
      return false;
    case "key":
      return toBase64url(new Uint8Array(32));
    default:
      return "";
  }
}

function readScalar(value: unknown, kind: Scalar, at: string): unknown {
  const ok =
    kind === "bool"
      ? typeof value === "boolean"
      : kind === "int" || kind === "u32"
        ? Number.isSafeInteger(value) && (kind === "int" || isU32(value as number))
        : typeof value === "string";
  if (!ok) {
    throw bad(`${at} has the wrong type`);
  }
  if (typeof value !== "string") {
    // JSON.parse returns -0 for "-0", which is not an integer.
    return value === 0 ? 0 : value;
  }
  return readText(value, kind, at);
}

function isU32(n: number): boolean {
  return n >= 0 && n <= 0xffff_ffff && !Object.is(n, -0);
}

function readText(value: string, kind: Scalar, at: string): string {
  try {
    switch (kind) {
      case "bytes":
        return toBase64(fromBase64(value));
      case "key":
        if (fromBase64url(value).length !== 32) {
          throw bad(`${at} is not a key of 32 bytes`);
        }
        return value;
      case "id":
        if (value !== "" && !isId(value)) {
          throw bad(`${at} is not an id`);
        }
        return value;
      default:
        // The same result as Go's decoder for a lone surrogate.
        return value.toWellFormed();
    }
  } catch (err) {
    throw err instanceof WireError ? err : bad(`${at}: ${(err as Error).message}`);
  }
}

/** One payload on one channel. The payload aliases the message it was read from. */
export interface DataRecord {
  readonly channel: number;
  readonly payload: Bytes;
}

/**
 * Joins records into one binary message; throws WireError if a record or the whole is
 * over a limit.
 */
export function encodeRecords(records: readonly DataRecord[]): Bytes {
  const parts: Uint8Array[] = [];
  let total = 0;
  for (const { channel, payload } of records) {
    if (payload.length === 0 || payload.length > MAX_RECORD_PAYLOAD || !isU32(channel)) {
      throw bad(`record of ${payload.length} bytes: want 1 to ${MAX_RECORD_PAYLOAD}`);
    }
    const head = new Uint8Array(RECORD_HEADER_LEN);
    const view = new DataView(head.buffer);
    view.setUint32(0, channel);
    view.setUint32(4, payload.length);
    parts.push(head, payload);
    total += head.length + payload.length;
  }
  if (total > MAX_MESSAGE) {
    throw bad(`binary message of ${total} bytes is over the limit of ${MAX_MESSAGE}`);
  }
  return concat(...parts);
}

/**
 * Splits a binary message into its records; throws WireError (bad_frame) unless it is
 * one or more whole records.
 */
export function splitRecords(message: Bytes): DataRecord[] {
  if (message.length > MAX_MESSAGE) {
    throw bad(`binary message of ${message.length} bytes is over the limit of ${MAX_MESSAGE}`);
  }
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const records: DataRecord[] = [];
  let at = 0;
  do {
    if (message.length - at < RECORD_HEADER_LEN) {
      throw bad("binary message ends inside a record header");
    }
    const n = view.getUint32(at + 4);
    if (n === 0 || n > MAX_RECORD_PAYLOAD) {
      throw bad(`record of ${n} bytes: want 1 to ${MAX_RECORD_PAYLOAD}`);
    }
    const end = at + RECORD_HEADER_LEN + n;
    if (end > message.length) {
      throw bad("binary message ends inside a record");
    }
    records.push({
      channel: view.getUint32(at),
      payload: message.subarray(at + RECORD_HEADER_LEN, end),
    });
    at = end;
  } while (at < message.length);
  return records;
}

/** The message that a hello's proof signs. `authority` is host[:port] as dialed, lower case. */
export function proofMessage(id: string, authority: string, nonce: Uint8Array): Bytes {
  const role = id.slice(0, 3);
  return concat(utf8(`scorel login v1\0${role}\0${authority}\0`), nonce, utf8(`\0${id}`));
}

/** Creates the hello that answers a relay_hello with this nonce. */
export async function signHello(
  identity: Identity,
  dialed: { authority: string; label: string; invite?: string },
  nonce: Uint8Array,
): Promise<HostHello | EntryHello> {
  const proof = await identity.sign(proofMessage(identity.id, dialed.authority, nonce));
  return {
    type: identity.kind === "dev" ? "host_hello" : "entry_hello",
    version: VERSION,
    id: identity.id,
    signKey: toBase64url(identity.signKey),
    sealKey: toBase64url(identity.sealKey),
    authority: dialed.authority,
    label: dialed.label,
    proof: toBase64(proof),
    ...(dialed.invite ? { invite: dialed.invite } : {}),
  };
}

/** Reports whether a hello's proof was made for this nonce with the keys that its id commits to. */
export async function verifyHello(hello: HostHello | EntryHello, nonce: Uint8Array): Promise<boolean> {
  const kind = hello.type === "host_hello" ? "dev" : "cli";
  const signKey = fromBase64url(hello.signKey);
  return (
    (await newId(kind, signKey, fromBase64url(hello.sealKey))) === hello.id &&
    (await verifySignature(signKey, proofMessage(hello.id, hello.authority, nonce), fromBase64(hello.proof)))
  );
}
