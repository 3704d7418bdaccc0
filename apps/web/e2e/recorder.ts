import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { SentFrames } from "./sent-frames";

/** Chromium itself asks this server how to fill in forms, and sends it hashes of the names of their fields. */
const ofTheBrowser = "content-autofill.googleapis.com:443";

/**
 * An HTTP proxy through which a whole browser reaches the network, so that it sees what no page event shows: the
 * sockets and requests of shared workers and service workers. It forwards to the servers that a test allows, and
 * connects to no others.
 */
export class Recorder {
  /** What the browser asked for, in order: the address of a page or file, or the server of a socket or of TLS. */
  readonly addresses: string[] = [];
  /** Everything that it sent in requests: their addresses, headers and bodies. */
  readonly requests: Buffer[] = [];
  /** The payload of every frame that it sent through a WebSocket, unmasked. */
  readonly frames: Buffer[] = [];
  /** Everything that arrived through sockets. */
  readonly received: Buffer[] = [];
  readonly #allowed: Set<string>;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((asked, answer) => this.#forward(asked, answer));

  private constructor(allowed: string[]) {
    this.#allowed = new Set(allowed.map((url) => new URL(url).host));
    this.#server.on("connection", (socket: Socket) => this.#keep(socket));
    this.#server.on("connect", (asked: IncomingMessage, socket: Socket, head: Buffer) =>
      this.#tunnel(asked.url ?? "", socket, head),
    );
  }

  static async start(...allowed: string[]): Promise<Recorder> {
    const recorder = new Recorder(allowed);
    recorder.#server.listen(0, "127.0.0.1");
    await once(recorder.#server, "listening");
    return recorder;
  }

  /** The option of a browser's context that sends everything through it. */
  get proxy(): { server: string; bypass: string } {
    const address = this.#server.address();
    if (address === null || typeof address === "string") {
      throw new Error("the proxy has no port");
    }
    return { server: `http://127.0.0.1:${address.port}`, bypass: "<-loopback>" };
  }

  /** The addresses on servers that the test did not allow, without the browser's own. */
  get strangers(): string[] {
    const hosts = new Set([...this.#allowed, ofTheBrowser]);
    return this.addresses.filter((address) => !hosts.has(new URL(address).host));
  }

  /** Forgets an address that the test itself asked for. */
  forget(address: string): void {
    const others = this.addresses.filter((each) => each !== address);
    this.addresses.splice(0, this.addresses.length, ...others);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    this.#server.close();
    await once(this.#server, "close");
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy()); // a lost server looks to the browser as without the proxy
    socket.on("close", () => this.#sockets.delete(socket));
  }

  #forward(asked: IncomingMessage, answer: ServerResponse): void {
    const { method, headers, url = "" } = asked;
    this.addresses.push(url);
    this.requests.push(Buffer.from([method, url, ...asked.rawHeaders].join("\n")));
    asked.on("data", (bytes: Buffer) => this.requests.push(bytes));
    if (!this.#allowed.has(new URL(url).host)) {
      asked.socket.destroy();
      return;
    }
    const up = request(url, { method, headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders);
      answered.on("error", () => asked.socket.destroy());
      answered.pipe(answer);
    });
    up.on("error", () => asked.socket.destroy());
    answer.on("close", () => up.destroy());
    asked.pipe(up);
  }

  #tunnel(host: string, down: Socket, head: Buffer): void {
    this.addresses.push(`connect://${host}/`);
    if (!this.#allowed.has(host)) {
      down.destroy();
      return;
    }
    const { hostname, port } = new URL(`ws://${host}`);
    const up = connect(Number(port || 80), hostname);
    this.#keep(up);
    const sent = new SentFrames();
    const send = (bytes: Buffer) => {
      const { request, frames } = sent.take(bytes);
      this.requests.push(...request);
      this.frames.push(...frames);
      up.write(bytes);
    };
    up.on("connect", () => {
      down.write("HTTP/1.1 200 Connected\r\n\r\n");
      if (head.length > 0) {
        send(head);
      }
      down.on("data", send);
    });
    up.on("data", (bytes) => {
      this.received.push(bytes);
      down.write(bytes);
    });
    up.on("close", () => down.destroy());
    down.on("close", () => up.destroy());
  }
}
