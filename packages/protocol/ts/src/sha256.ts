// Synchronous SHA-256. WebCrypto's is asynchronous, and a frame that takes a turn
// of the event loop to decode could be overtaken by a data record that came after
// it. It hashes public keys for ids and nothing secret.

import type { Bytes } from "./base64.ts";

const K = fractions(64, 3);
const START = fractions(8, 2);

export function sha256(message: Uint8Array): Bytes {
  const blocks = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  blocks.set(message);
  blocks[message.length] = 0x80;
  const view = new DataView(blocks.buffer);
  view.setBigUint64(blocks.length - 8, BigInt(message.length) * 8n);
  const h = Uint32Array.from(START);
  for (let at = 0; at < blocks.length; at += 64) {
    compress(h, view, at);
  }
  const out = new Uint8Array(32);
  h.forEach((word, i) => {
    new DataView(out.buffer).setUint32(4 * i, word);
  });
  return out;
}

function compress(h: Uint32Array, view: DataView, at: number): void {
  const w = schedule(view, at);
  let [a, b, c, d, e, f, g, hh] = h as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (hh + s1 + ((e & f) ^ (~e & g)) + (K[i] ?? 0) + (w[i] ?? 0)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [a, b, c, d, e, f, g, hh] = [(t1 + t2) | 0, a, b, c, (d + t1) | 0, e, f, g];
  }
  [a, b, c, d, e, f, g, hh].forEach((word, i) => {
    h[i] = (h[i] ?? 0) + word;
  });
}

function schedule(view: DataView, at: number): Uint32Array {
  const w = new Uint32Array(64);
  for (let i = 0; i < 16; i++) {
    w[i] = view.getUint32(at + 4 * i);
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15] ?? 0;
    const y = w[i - 2] ?? 0;
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    w[i] = (w[i - 16] ?? 0) + s0 + (w[i - 7] ?? 0) + s1;
  }
  return w;
}

function rotate(x: number, n: number): number {
  return (x >>> n) | (x << (32 - n));
}

// The constants are the first 32 bits of the fractional parts of the square (degree
// 2) or cube (degree 3) roots of the first primes, as defined by the standard.
function fractions(count: number, degree: 2 | 3): Uint32Array {
  const out = new Uint32Array(count);
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) {
    if (primes.every((p) => n % p !== 0)) {
      out[primes.length] = Number(root(BigInt(n), degree) & 0xffff_ffffn);
      primes.push(n);
    }
  }
  return out;
}

// floor(n^(1/degree) * 2^32), in integers: a double is not precise enough.
function root(n: bigint, degree: 2 | 3): bigint {
  const target = n << BigInt(32 * degree);
  let found = 0n;
  for (let bit = 1n << 37n; bit > 0n; bit >>= 1n) {
    const next = found | bit;
    if (next ** BigInt(degree) <= target) {
      found = next;
    }
  }
  return found;
}
