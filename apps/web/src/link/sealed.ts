// One end of an open sealed channel with its flow-control window: messages are sent record by record as the other end
// acknowledges, and received ones are acknowledged. The Go package client does the same.
import { type Bytes, type Channel, type Piece, split } from "@scorel/protocol";
import { ACK_EVERY, WINDOW } from "@scorel/protocol/seal";

export class Sealed {
  readonly #channel: Channel;
  readonly #put: (record: Bytes) => void;
  /** Bytes of records: sealed, opened, and acknowledged to the other end. */
  #sent = 0n;
  #received = 0n;
  #acknowledged = 0n;
  #messages: Promise<void> = Promise.resolve();
  #records: Promise<void> = Promise.resolve();
  #over = false;
  #wake: () => void = () => {};

  /** `put` receives each record, in the order in which they must be sent. */
  constructor(channel: Channel, put: (record: Bytes) => void) {
    this.#channel = channel;
    this.#put = put;
  }

  /**
   * Seals a message and passes on its records, each as soon as the window has room for it. Resolves after the last
   * record, or when the channel ends first. Rejects with a RangeError for a message that is too large.
   */
  send(message: Bytes): Promise<void> {
    const run = this.#messages.then(() => this.#sendPieces(message));
    this.#messages = run.catch(() => {});
    return run;
  }

  /**
   * Opens the next record; returns null until a message is complete. Calls must not overlap. It never waits for the
   * window: two ends that both send would otherwise wait for each other.
   */
  async take(record: Uint8Array): Promise<Bytes | null> {
    const message = await this.#channel.open(record);
    if (this.#channel.acked > this.#sent) {
      throw new Error("sealed: more was acknowledged than was sent");
    }
    this.#wake();
    this.#received += BigInt(record.length);
    if (this.#received - this.#acknowledged >= ACK_EVERY) {
      this.#acknowledged = this.#received;
      await this.#sendRecord(() => this.#channel.sealAck(this.#acknowledged));
    }
    return message;
  }

  /** Ends the channel: no more records are passed on, and all waiting senders resolve. */
  end(): void {
    this.#over = true;
    this.#wake();
  }

  async #sendPieces(message: Bytes): Promise<void> {
    if (this.#over) {
      return;
    }
    for (const piece of await split(message)) {
      await this.#room(piece);
      if (this.#over) {
        return;
      }
      await this.#sendRecord(() => this.#channel.sealPiece(piece));
    }
  }

  /** Waits until the piece fits the window. Only one message at a time gets here. */
  async #room(piece: Piece): Promise<void> {
    while (!this.#over) {
      const underWay = Number(this.#sent - this.#channel.acked);
      if (underWay === 0 || underWay + piece.recordLen <= WINDOW) {
        return;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  // Sealing is asynchronous, so it is queued together with passing on: records leave in the order of their counters.
  #sendRecord(seal: () => Promise<Bytes>): Promise<void> {
    const run = this.#records.then(async () => {
      const record = await seal();
      if (!this.#over) {
        this.#sent += BigInt(record.length);
        this.#put(record);
      }
    });
    this.#records = run.catch(() => {});
    return run;
  }
}
