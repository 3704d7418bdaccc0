// One page that a worker serves: what it follows, and the messages in flight to it.
import type { FromLink, LinkPort } from "../api/messages";

/** The most unconfirmed bytes for a page. A browser freezes hidden pages and queues the messages to them. */
const MOST = 8 * 1024 * 1024;
/** A page is asked for this many confirmations within that limit. */
const MARKS = 32;
/** The assumed size of a message of unknown size: most are small. */
const SMALL = 256;

/**
 * Messages that may be skipped: they are sent again with the current state, or read again, once the page accepts
 * messages.
 */
const MISSABLE: readonly FromLink["t"][] = ["event", "host", "link", "devices", "paths", "me", "relay"];

export class ServedPage {
  readonly number: number;
  readonly #port: LinkPort;
  readonly #caughtUp: () => void;
  readonly #most: number;
  /** Whether the page is visible. */
  visible = true;
  ended = false;
  /** The devices that the page shows. */
  readonly devices = new Set<string>();
  /** The sessions and terminals whose events the page receives. */
  readonly follows = new Set<string>();
  /** The page's pairings and diagnoses. */
  readonly runs = new Set<number>();
  #batch: FromLink[] = [];
  /** The bytes sent since the last mark. */
  #fresh = 0;
  /** The number of bytes before each unconfirmed mark. */
  #marks: number[] = [];
  #unconfirmed = 0;
  #behind = false;
  /** How often the page has missed messages. */
  #missed = 0;

  /** `caughtUp` is called when a page that has missed messages accepts them again. */
  constructor(number: number, port: LinkPort, caughtUp: () => void, most = MOST) {
    this.number = number;
    this.#port = port;
    this.#caughtUp = caughtUp;
    this.#most = most;
  }

  /** Queues a message, to be sent with all others of this turn of the event loop. */
  post(message: FromLink | undefined, bytes = SMALL): void {
    if (!message || this.ended || (this.#behind && MISSABLE.includes(message.t))) {
      return;
    }
    // For the page, a gap is a new channel: it requests what it has missed.
    this.#batch.push(message.t === "host" ? { ...message, opening: message.opening + this.#missed } : message);
    this.#fresh += bytes;
    this.#unconfirmed += bytes;
    this.#behind ||= this.#unconfirmed > this.#most;
    if (this.#batch.length === 1) {
      setTimeout(() => this.#flush(), 0);
    }
  }

  /** Handles the page's confirmation of everything before the oldest mark. */
  confirm(): void {
    this.#unconfirmed -= this.#marks.shift() ?? 0;
    if (this.#behind && this.#marks.length === 0) {
      this.#behind = false;
      this.#missed++;
      this.#caughtUp();
    }
  }

  end(): void {
    this.ended = true;
    this.#batch = [];
    this.#port.onmessage = null;
    this.#port.close?.();
  }

  #flush(): void {
    if (this.ended) {
      return;
    }
    if (this.#fresh > this.#most / MARKS) {
      this.#batch.push({ t: "mark" });
      this.#marks.push(this.#fresh);
      this.#fresh = 0;
    }
    const batch = this.#batch;
    this.#batch = [];
    this.#port.postMessage(batch);
  }
}
