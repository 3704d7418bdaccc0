import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";

/** A connection to the relay that can fail as real ones do: data sent up still arrives, and nothing comes back. */
export class Forwarder {
  readonly #server;
  readonly #sockets = new Set<Socket>();
  readonly #upgraded = new Set<Socket>();
  #muted = false;
  #closed = false;

  constructor(port: number) {
    this.#server = createServer((down) => {
      if (this.#closed) {
        down.destroy();
        return;
      }
      const up = createConnection(port, "127.0.0.1");
      for (const socket of [down, up]) {
        this.#sockets.add(socket);
        socket.setNoDelay(true);
        socket.on("error", () => socket.destroy()); // closing notifies the other end
        socket.on("close", () => {
          this.#sockets.delete(socket);
          this.#upgraded.delete(socket);
          up.destroy();
          down.destroy();
        });
      }
      down.once("data", (bytes: Buffer) => {
        if (bytes.includes("GET /v1/connect")) {
          this.#upgraded.add(down);
        }
      });
      down.on("data", (bytes) => up.write(bytes));
      up.on("data", (bytes) => {
        if (!this.#muted) {
          down.write(bytes);
        }
      });
    });
  }

  /** Listens and returns its address. */
  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    if (address === null || typeof address === "string") {
      throw new Error("the socket has no port");
    }
    return `http://127.0.0.1:${address.port}`;
  }

  /** Returns the number of open connections of entries. */
  get connections(): number {
    return this.#upgraded.size;
  }

  /** Drops everything that the relay sends from now on. */
  mute(): void {
    this.#muted = true;
  }

  /** Cuts every connection; new ones work in both directions. */
  cut(): void {
    for (const socket of [...this.#sockets]) {
      socket.destroy();
    }
    this.#muted = false;
    this.#closed = false;
  }

  /** Cuts every connection, and every new one until the next cut. */
  close(): void {
    this.cut();
    this.#closed = true;
  }

  async stop(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }
}
