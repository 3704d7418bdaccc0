import type { LinkState } from "../api/contract";
import { t } from "../i18n/link";
import type { Connection, ConnectionEnd } from "./connection";
import { backoff, nearBackoff, type Timing } from "./timing";

const STALE_DIAL = 2_000;

/**
 * Keeps one connection: dials, waits with back-off and jitter when it ends, and dials at once when the network is back.
 * Owned by the link.
 */
export class Dialer {
  readonly #timing: Timing;
  readonly #dial: () => Connection;
  readonly #publish: (state: LinkState) => void;
  readonly #backoff: typeof backoff;
  #connection: Connection | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #dialedAt = 0;
  #openedAt = 0;
  #online = false;
  #refused = false;
  #stopped = false;
  #lastError: string | null = null;

  /** `near` means that the relay is on this machine. */
  constructor(timing: Timing, dial: () => Connection, publish: (state: LinkState) => void, near = false) {
    this.#backoff = near ? nearBackoff : backoff;
    this.#timing = timing;
    this.#dial = dial;
    this.#publish = publish;
  }

  /** The connection, once logged in. */
  get open(): Connection | null {
    return this.#online ? this.#connection : null;
  }

  /** Dials now, unless there is an open connection or one dialed a moment ago. */
  now(): void {
    if (this.#connection && !this.#online && Date.now() - this.#dialedAt >= STALE_DIAL) {
      // It was dialed before the network came back, and may hang until its timeout.
      this.#connection.fail(null);
    }
    if (this.#connection || this.#stopped) {
      return;
    }
    clearTimeout(this.#timer);
    this.#refused = false;
    this.#publish({ state: "connecting", attempt: this.#attempt, retryAt: null, lastError: this.#lastError });
    this.#dialedAt = Date.now();
    try {
      this.#connection = this.#dial();
    } catch (err) {
      // The browser forbids this address, and will forbid it the next time too.
      const why = err instanceof Error ? err.message : String(err);
      this.ended({
        message: t("link.dialer.notAllowed", { reason: why }),
        refused: true,
        needsInvite: false,
        retryAfter: 0,
      });
    }
  }

  /** Skips the rest of the back-off, because the network may be back. A refusal still stands. */
  nudge(): void {
    if (!this.#refused) {
      this.now();
    }
  }

  /** Resets all state of the last relay and dials. */
  restart(): void {
    this.#attempt = 0;
    this.#lastError = null;
    const old = this.#connection;
    if (old) {
      old.fail(null);
    }
    this.now();
  }

  /** Ends the connection and stops dialing. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#connection?.fail(null);
  }

  welcomed(): void {
    this.#online = true;
    this.#openedAt = Date.now();
    this.#lastError = null;
    this.#publish({ state: "online" });
  }

  ended(end: ConnectionEnd): void {
    // A relay that accepts and then disconnects at once must not be dialed without a pause.
    if (this.#online && Date.now() - this.#openedAt >= this.#timing.settled) {
      this.#attempt = 0;
    }
    this.#connection = null;
    this.#online = false;
    this.#lastError = end.message ?? this.#lastError;
    if (this.#stopped) {
      return;
    }
    if (end.refused) {
      this.#refused = true;
      const message = end.message ?? t("link.dialer.refused");
      this.#publish(end.needsInvite ? { state: "refused", message, needsInvite: true } : { state: "refused", message });
      return;
    }
    const wait = this.#backoff(this.#timing, this.#attempt) + end.retryAfter;
    this.#attempt++;
    this.#publish({
      state: "connecting",
      attempt: this.#attempt,
      retryAt: Date.now() + wait,
      lastError: this.#lastError,
    });
    this.#timer = setTimeout(() => this.now(), wait);
  }
}
