import { ApiError, OfflineError } from "./contract";
import type { Failure, ToLink } from "./messages";

interface Pending {
  resolve(result: unknown): void;
  reject(err: Error): void;
}

/** The calls of this page to the link worker that wait for an answer. */
export class Calls {
  readonly #post: (message: ToLink) => void;
  #pending = new Map<number, Pending>();
  #last = 0;

  constructor(post: (message: ToLink) => void) {
    this.#post = post;
  }

  /** An id that no other call or pairing of this page has. */
  nextId(): number {
    return ++this.#last;
  }

  /** Rejects with ApiError or OfflineError. */
  call(make: (id: number) => ToLink): Promise<unknown> {
    const id = this.nextId();
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#post(make(id));
    });
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
