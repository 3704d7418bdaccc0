// deflate-raw through the platform's streams, with a limit on the output.

import { type Bytes, concat } from "./base64.ts";

export async function deflateRaw(bytes: Bytes): Promise<Bytes> {
  return pump(new CompressionStream("deflate-raw"), bytes, Number.POSITIVE_INFINITY);
}

/**
 * Inflates to at most `limit` bytes; throws for invalid data and as soon as the limit
 * is exceeded.
 */
export async function inflateRaw(bytes: Bytes, limit: number): Promise<Bytes> {
  return pump(new DecompressionStream("deflate-raw"), bytes, limit);
}

async function pump(stream: CompressionStream | DecompressionStream, input: Bytes, limit: number): Promise<Bytes> {
  const writer = stream.writable.getWriter();
  // Invalid data fails on both sides; the reader's error is the one reported.
  const written = Promise.all([writer.write(input), writer.close()]).catch(() => {});
  const reader = stream.readable.getReader();
  const parts: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    total += value.length;
    if (total > limit) {
      await reader.cancel().catch(() => {});
      throw new RangeError("inflated message over the limit");
    }
    parts.push(value);
  }
  await written;
  return concat(...parts);
}
