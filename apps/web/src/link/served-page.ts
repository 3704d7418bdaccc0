// One page that a worker serves: what it looks at, and what is on its way to it.
import type { FromLink, LinkPort } from "../api/messages";

/**
 * What a page may leave unconfirmed, in bytes. A browser freezes pages that nobody looks at, and keeps what is sent to
 * them.
 */
const MOST = 8 * 1024 * 1024;
/** It is asked to confirm this many times on the way there. */
const MARKS = 32;
/** What a message counts whose size is not known: most are small. */
const SMALL = 256;

/** What is told again as it is then, or is read again, once the page takes messages. */
const MISSABLE: readonly FromLink["t"][] = ["event", "host", "link", "devices", "paths", "me", "relay"];

export class ServedPage {
  readonly number: number;
  readonly #port: LinkPort;
  readonly #caughtUp: () => void;
  readonly #most: number;
  /** Somebody can see it. */
  visible = true;
  ended = false;
  /** The devices that it shows. */
  readonly devices = new Set<string>();
  /** The sessions and terminals whose events it gets. */
  readonly follows = new Set<string>();
  /** Its pairings and diagnoses. */
  readonly runs = new Set<number>();
  #batch: FromLink[] = [];
  /** The bytes that no mark counts so far. */
  #fresh = 0;
  /** How many bytes are before each mark that is not confirmed. */
  #marks: number[] = [];
  #unconfirmed = 0;
  #behind = false;
  /** How often it has missed something. */
  #missed = 0;

  /** `caughtUp` is called when a page that has missed something takes messages again. */
  constructor(number: number, port: LinkPort, caughtUp: () => void, most = MOST) {
    this.number = number;
    this.#port = port;
    this.#caughtUp = caughtUp;
    this.#most = most;
  }

  /** Sends a message with all others of this turn of the event loop. */
  post(message: FromLink | undefined, bytes = SMALL): void {
    if (!message || this.ended || (this.#behind && MISSABLE.includes(message.t))) {
      return;
    }
    // To the page, a gap is a new channel: it asks for what it has missed.
    this.#batch.push(message.t === "host" ? { ...message, opening: message.opening + this.#missed } : message);
    this.#fresh += bytes;
    this.#unconfirmed += bytes;
    this.#behind ||= this.#unconfirmed > this.#most;
    if (this.#batch.length === 1) {
      setTimeout(() => this.#flush(), 0);
    }
  }

  /** The page has taken what came before the oldest mark. */
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
