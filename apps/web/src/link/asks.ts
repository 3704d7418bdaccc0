import type { ErrorFrame, Frame } from "@scorel/protocol/wire";
import { UnreachableError } from "../api/messages";
import { t } from "../i18n/link";

/** An error answer of the relay; `kind` is one of the wire's Kind. */
export class RelayError extends Error {
  override name = "RelayError";
  constructor(
    readonly kind: number,
    message: string,
  ) {
    super(message);
  }
}

interface Pending {
  resolve(frame: Frame): void;
  reject(err: Error): void;
}

/** Pending requests to the relay on one connection. */
export class Asks {
  #pending = new Map<string, Pending>();
  #last = 0;

  /** Sends the frame that `make` builds with a new requestId. Rejects with RelayError or UnreachableError. */
  ask<T extends Frame>(send: (frame: Frame) => void, make: (requestId: string) => Frame): Promise<T> {
    const requestId = `r${++this.#last}`;
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(requestId, { resolve: (frame) => resolve(frame as T), reject });
      send(make(requestId));
    });
  }

  /** Consumes the frame if it answers a pending request; reports whether it did. */
  take(frame: Frame): boolean {
    const requestId = "requestId" in frame ? frame.requestId : undefined;
    const pending = requestId ? this.#pending.get(requestId) : undefined;
    if (!requestId || !pending) {
      return false;
    }
    this.#pending.delete(requestId);
    if (frame.type === "error") {
      pending.reject(new RelayError((frame as ErrorFrame).kind, frame.message));
    } else {
      pending.resolve(frame);
    }
    return true;
  }

  /** Rejects all pending requests after the connection has ended. */
  drop(): void {
    const all = [...this.#pending.values()];
    this.#pending.clear();
    for (const pending of all) {
      pending.reject(new UnreachableError(t("link.asks.connectionLost")));
    }
  }
}
