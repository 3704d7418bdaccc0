// The hash chain over the lines of a session file, and the heads that hosts sign.
// Lines are hashed as written; docs/session-format.md defines which bytes. It
// corresponds to the Go package session.

import { type Bytes, concat, fromBase64url, utf8 } from "./base64.ts";
import { sha256 } from "./sha256.ts";

const CHAIN_OPENING = utf8(',"chain":"');
const CLOSING = utf8('"}');
const HEAD_PARTS = [',"head":{"signKey":"', '","sealKey":"', '","sig":"'].map(utf8);
const HEAD_DIGITS = [43, 43, 86];
const CHAIN_LEN = CHAIN_OPENING.length + 43 + CLOSING.length;
const HEAD_LEN = HEAD_PARTS.reduce((n, part) => n + part.length, 0) + 43 + 43 + 86 + CLOSING.length;

/** The result of splitChain: the bytes that the value covers, and the value. */
export interface Linked {
  covered: Bytes;
  value: Bytes;
}

/** A host's signature of a line and of everything before it. */
export interface Head {
  /** The part of the line that it signs. */
  body: Bytes;
  signKey: Bytes;
  sealKey: Bytes;
  signature: Bytes;
}

/**
 * Returns the value at which a chain begins: over all bytes before the first chained line.
 */
export function anchorOf(before: Uint8Array): Bytes {
  return sha256(concat(utf8("scorel anchor v1\0"), before));
}

/** Returns the value of a line whose covered bytes follow `prev`. */
export function nextChain(prev: Uint8Array, covered: Uint8Array): Bytes {
  return sha256(concat(utf8("scorel chain v1\0"), prev, covered));
}

/** Splits a line, without its LF; null if it has no chain value. */
export function splitChain(line: Bytes): Linked | null {
  const at = line.length - CHAIN_LEN;
  if (at < 1 || !holds(line, at, CHAIN_OPENING) || !holds(line, line.length - 2, CLOSING)) {
    return null;
  }
  const value = digits(line, at + CHAIN_OPENING.length, 43);
  return value && { covered: line.slice(0, at), value };
}

/** Splits the covered bytes of a line; null if they have no head. */
export function splitHead(covered: Bytes): Head | null {
  const start = covered.length - HEAD_LEN;
  if (start < 1 || !holds(covered, covered.length - 2, CLOSING)) {
    return null;
  }
  let at = start;
  const values: Bytes[] = [];
  for (const [i, part] of HEAD_PARTS.entries()) {
    const count = HEAD_DIGITS[i] ?? 0;
    const value = holds(covered, at, part) ? digits(covered, at + part.length, count) : null;
    if (!value) {
      return null;
    }
    values.push(value);
    at += part.length + count;
  }
  const [signKey, sealKey, signature] = values as [Bytes, Bytes, Bytes];
  return { body: covered.slice(0, start), signKey, sealKey, signature };
}

/** Returns the bytes that a head signs. */
export function headMessage(sessionId: string, prev: Uint8Array, body: Uint8Array): Bytes {
  const id = utf8(sessionId);
  return concat(utf8("scorel head v1\0"), uint32(id.length), id, prev, sha256(body));
}

/**
 * Returns the first line, counted from 1, that does not follow the one before it or
 * has no value although the one before it has one; 0 if the chain is intact.
 */
export function firstBroken(file: Bytes): number {
  let prev: Bytes | null = null;
  let begun = false;
  let number = 0;
  for (let at = 0; at < file.length; ) {
    number++;
    const lf = file.indexOf(0x0a, at);
    const linked = splitChain(file.slice(at, lf < 0 ? file.length : lf));
    if (lf < 0 || (!linked && begun)) {
      return number;
    }
    if (linked) {
      const value = nextChain(prev ?? anchorOf(file.slice(0, at)), linked.covered);
      if (!same(value, linked.value)) {
        return number;
      }
      prev = value;
      begun = true;
    }
    at = lf + 1;
  }
  return 0;
}

/** Encodes a number in four bytes, big endian. */
export function uint32(n: number): Bytes {
  const out = new Uint8Array(4);
  new DataView(out.buffer).setUint32(0, n);
  return out;
}

function holds(line: Uint8Array, at: number, part: Uint8Array): boolean {
  return same(line.subarray(at, at + part.length), part);
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function digits(line: Bytes, at: number, count: number): Bytes | null {
  try {
    return fromBase64url(String.fromCharCode(...line.subarray(at, at + count)));
  } catch {
    return null;
  }
}
