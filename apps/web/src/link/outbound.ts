import type { Bytes } from "@scorel/protocol";
import { type DataRecord, encodeRecords } from "@scorel/protocol/wire";

/** The methods of a WebSocket that sending uses. */
export interface Sink {
  readonly bufferedAmount: number;
  send(data: string | Bytes): void;
}

/** Above this, nothing is written until the socket has drained. */
const HIGH_WATER = 256 * 1024;
/** Above this, the connection is closed: the network accepts no data. */
const MOST_QUEUED = 64 * 1024 * 1024;
/** A browser does not report when a socket has drained, so it is polled. */
const DRAIN_POLL = 20;

/**
 * Sends control frames and records in order. Records that wait together are sent in one message. Owned by one
 * connection.
 */
export class Outbound {
  readonly #sink: Sink;
  readonly #maxMessage: () => number;
  #queue: (string | DataRecord)[] = [];
  #queued = 0;
  #scheduled = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(sink: Sink, maxMessage: () => number) {
    this.#sink = sink;
    this.#maxMessage = maxMessage;
  }

  /** Returns false when the queue exceeds its bound; the caller must then close the connection. */
  push(item: string | DataRecord): boolean {
    if (this.#closed) {
      return true;
    }
    this.#queue.push(item);
    this.#queued += sizeOf(item);
    if (!this.#scheduled && this.#timer === undefined) {
      this.#scheduled = true;
      queueMicrotask(() => {
        this.#scheduled = false;
        this.#flush();
      });
    }
    return this.#queued <= MOST_QUEUED;
  }

  close(): void {
    this.#closed = true;
    this.#queue = [];
    clearTimeout(this.#timer);
  }

  #flush(): void {
    this.#timer = undefined;
    while (!this.#closed && this.#queue.length > 0) {
      if (this.#sink.bufferedAmount >= HIGH_WATER) {
        this.#timer = setTimeout(() => this.#flush(), DRAIN_POLL);
        return;
      }
      this.#sink.send(this.#nextMessage());
    }
  }

  #nextMessage(): string | Bytes {
    const first = this.#queue[0];
    if (typeof first === "string") {
      this.#queue.shift();
      this.#queued -= sizeOf(first);
      return first;
    }
    const batch: DataRecord[] = [];
    let total = 0;
    for (const item of this.#queue) {
      if (typeof item === "string" || (batch.length > 0 && total + sizeOf(item) > this.#maxMessage())) {
        break;
      }
      batch.push(item);
      total += sizeOf(item);
    }
    this.#queue.splice(0, batch.length);
    this.#queued -= total;
    return encodeRecords(batch);
  }
}

// A record's header has eight bytes; a string counts its code units, which is close enough.
function sizeOf(item: string | DataRecord): number {
  return typeof item === "string" ? item.length : item.payload.length + 8;
}
