import { ApiError, OfflineError } from "./contract";
import type { Failure, ToLink } from "./messages";

interface Pending {
  message: ToLink;
  resolve(result: unknown): void;
  reject(err: Error): void;
}

/** Pending calls of this page to the link worker. */
export class Calls {
  readonly #post: (message: ToLink) => void;
  #pending = new Map<number, Pending>();
  #last = 0;

  constructor(post: (message: ToLink) => void) {
    this.#post = post;
  }

  /** Returns an id that no other call or pairing of this page uses. */
  nextId(): number {
    return ++this.#last;
  }

  /** Rejects with ApiError or OfflineError. */
  call(make: (id: number) => ToLink): Promise<unknown> {
    const id = this.nextId();
    const message = make(id);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { message, resolve, reject });
      this.#post(message);
    });
  }

  /** Continues with another worker: repeats the calls that are safe to repeat and rejects the others with `reason`. */
  again(reason: string): void {
    for (const [id, { message }] of [...this.#pending]) {
      if (message.t === "put" || message.t === "recall") {
        this.#post(message);
      } else {
        this.reject(id, { code: "offline", message: reason });
      }
    }
  }

  resolve(id: number, result: unknown): void {
    this.#pending.get(id)?.resolve(result);
    this.#pending.delete(id);
  }

  reject(id: number, failure: Failure): void {
    const err =
      failure.code === "api" ? new ApiError(failure.kind, failure.message) : new OfflineError(failure.message);
    this.#pending.get(id)?.reject(err);
    this.#pending.delete(id);
  }
}
