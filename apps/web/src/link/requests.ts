import { UnreachableError } from "../api/messages";
import { t } from "../i18n/link";

interface Pending<T> {
  resolve(value: T): void;
  reject(err: Error): void;
}

/** The requests of one device that wait for a channel or for an answer. */
export class RequestTable {
  #sent = new Map<string, Pending<unknown>>();
  #waiting = new Set<Pending<void>>();
  #last = 0;
  readonly #onIdle: () => void;

  /** `onIdle` is called when the last pending answer has arrived. */
  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  /** Whether no answer is pending. */
  get idle(): boolean {
    return this.#sent.size === 0;
  }

  /** Resolves when a channel is open; rejects with UnreachableError after `wait` milliseconds. */
  whenOpen(open: boolean, wait: number): Promise<void> {
    if (open) {
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(entry);
      };
      const entry: Pending<void> = {
        resolve: () => {
          settle();
          resolve();
        },
        reject: (err) => {
          settle();
          reject(err);
        },
      };
      const timer = setTimeout(() => entry.reject(new UnreachableError(t("link.channel.unreachable"))), wait);
      this.#waiting.add(entry);
    });
  }

  opened(): void {
    for (const entry of [...this.#waiting]) {
      entry.resolve();
    }
  }

  rejectWaiting(err: Error): void {
    for (const entry of [...this.#waiting]) {
      entry.reject(err);
    }
  }

  add(): { requestId: string; answer: Promise<unknown> } {
    const requestId = `q${++this.#last}`;
    const answer = new Promise<unknown>((resolve, reject) => this.#sent.set(requestId, { resolve, reject }));
    return { requestId, answer };
  }

  resolve(requestId: string, result: unknown): void {
    this.#sent.get(requestId)?.resolve(result);
    this.#remove(requestId);
  }

  refuse(requestId: string, err: Error): void {
    this.#sent.get(requestId)?.reject(err);
    this.#remove(requestId);
  }

  #remove(requestId: string): void {
    if (this.#sent.delete(requestId) && this.idle) {
      this.#onIdle();
    }
  }

  /** Rejects all sent requests after the channel has ended. */
  dropSent(): void {
    const all = [...this.#sent.values()];
    this.#sent.clear();
    for (const pending of all) {
      pending.reject(new UnreachableError(t("link.requests.connectionLost")));
    }
  }
}
