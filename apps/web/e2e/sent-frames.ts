const endOfHead = "\r\n\r\n";

/** Reads what a browser sends through a socket: the request that opens it, and the payload of each frame after that. */
export class SentFrames {
  #rest: Buffer = Buffer.alloc(0);
  #opened = false;

  /** Returns what these bytes complete. */
  take(bytes: Buffer): { request: Buffer[]; frames: Buffer[] } {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const request: Buffer[] = [];
    const frames: Buffer[] = [];
    if (!this.#opened) {
      const end = this.#rest.indexOf(endOfHead);
      if (end < 0) {
        return { request, frames };
      }
      this.#opened = true;
      request.push(this.#cut(end + endOfHead.length));
    }
    for (let frame = this.#frame(); frame; frame = this.#frame()) {
      frames.push(frame);
    }
    return { request, frames };
  }

  /** Removes the first frame and returns its payload; null if it is not complete. */
  #frame(): Buffer | null {
    const bytes = this.#rest;
    if (bytes.length < 2) {
      return null;
    }
    const [first = 0, second = 0] = bytes;
    if ((first & 0x70) !== 0 || (second & 0x80) === 0) {
      throw new Error("a frame of a browser that is compressed or not masked cannot be read");
    }
    const short = second & 0x7f;
    const size = short === 126 ? 2 : short === 127 ? 8 : 0;
    const start = 2 + size + 4;
    if (bytes.length < start) {
      return null;
    }
    const length = size === 0 ? short : size === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    if (bytes.length < start + length) {
      return null;
    }
    const frame = this.#cut(start + length);
    const mask = frame.subarray(start - 4, start);
    return Buffer.from(frame.subarray(start).map((byte, i) => byte ^ (mask[i % 4] ?? 0)));
  }

  #cut(length: number): Buffer {
    const cut = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return cut;
  }
}
