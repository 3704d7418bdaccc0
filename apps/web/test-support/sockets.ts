// WebSockets and ports without a network: the same order, the same copies.
import type { FromLink, LinkPort, PagePort, ToLink } from "../src/api/messages";

/** The relay's end of a socket. */
export interface ServerEnd {
  send(data: string | Uint8Array): void;
  close(): void;
  onmessage: (data: string | Uint8Array<ArrayBuffer>) => void;
  onclose: () => void;
}

/** A WebSocket whose other end is in this process. */
export class FakeSocket {
  binaryType = "blob";
  bufferedAmount = 0;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly server: ServerEnd;
  #open = true;

  constructor() {
    this.server = {
      send: (data) => this.#later(() => this.onmessage?.({ data: copy(data) })),
      close: () => this.#shut(),
      onmessage: () => {},
      onclose: () => {},
    };
  }

  send(data: string | Uint8Array): void {
    const sent = typeof data === "string" ? data : new Uint8Array(data);
    this.#later(() => this.server.onmessage(sent));
  }

  close(): void {
    this.#shut();
  }

  #later(deliver: () => void): void {
    setImmediate(() => this.#open && deliver());
  }

  // After the data in flight, as TCP would.
  #shut(): void {
    setImmediate(() => {
      if (this.#open) {
        this.#open = false;
        this.onclose?.();
        this.server.onclose();
      }
    });
  }
}

function copy(data: string | Uint8Array): string | ArrayBuffer {
  return typeof data === "string" ? data : new Uint8Array(data).buffer;
}

/** Returns a worker's port and the page's port to it. */
export function portPair(): { page: PagePort; worker: LinkPort } {
  const page: PagePort = { postMessage: () => {}, onmessage: null };
  const worker: LinkPort = { postMessage: () => {}, onmessage: null };
  page.postMessage = (message: ToLink) => {
    const data = structuredClone(message);
    setImmediate(() => worker.onmessage?.({ data } as MessageEvent<ToLink>));
  };
  worker.postMessage = (batch: FromLink[]) => {
    const data = structuredClone(batch);
    setImmediate(() => page.onmessage?.({ data } as MessageEvent<FromLink[]>));
  };
  return { page, worker };
}
