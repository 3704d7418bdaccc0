// One end of a sealed channel, in a worker as on the page. Another such worker is the other end, and a MessagePort
// between them replaces the relay. The benchmark measures the product's code over WebCrypto, without a network.
import { type Bytes, generateKeys, Handshake, type Identity, type SealPeer, utf8 } from "@scorel/protocol";
import { Sealed } from "../src/link/sealed";

export type Payload = "text" | "image";

/** The page's orders to a worker. */
export type Order =
  | { t: "connect"; kind: "dev" | "cli"; port: MessagePort }
  | { t: "send"; payload: Payload; size: number; volume: number }
  | { t: "receive"; volume: number };

/** The result: the time that a send or receive took and the longest delay of a timer, in milliseconds. */
export interface Report {
  took: number;
  waited: number;
}

/** Returns JSON as the host sends it while a model streams. */
function text(size: number): Bytes {
  let out = "";
  for (let n = 0; out.length < size; n++) {
    out += `{"type":"event","seq":${n * 7919},"delta":"${Math.random().toString(36).slice(2)} of the words"},`;
  }
  return utf8(out.slice(0, size));
}

/** Returns data that hardly compresses: an image in base64. */
function image(size: number): Bytes {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return Uint8Array.from({ length: size }, () => digits.charCodeAt(Math.random() * 64));
}

/** Measures how long a timer that is due at once is delayed. */
function watch(): () => number {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 0);
  return () => {
    clearInterval(timer);
    return Math.max(longest, performance.now() - last);
  };
}

class End {
  readonly #sealed: Sealed;
  #received = 0;
  #wanted = Number.POSITIVE_INFINITY;
  #arrived: () => void = () => {};

  constructor(sealed: Sealed, port: MessagePort) {
    this.#sealed = sealed;
    let turn: Promise<unknown> = Promise.resolve();
    port.onmessage = ({ data }: MessageEvent<Bytes>) => {
      turn = turn.then(() => this.#take(data));
    };
  }

  async #take(record: Bytes): Promise<void> {
    this.#received += (await this.#sealed.take(record))?.length ?? 0;
    if (this.#received >= this.#wanted) {
      this.#arrived();
    }
  }

  async send(message: Bytes, volume: number): Promise<void> {
    for (let sent = 0; sent < volume; sent += message.length) {
      await this.#sealed.send(message);
    }
  }

  receive(volume: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wanted = this.#received + volume;
      this.#arrived = resolve;
    });
  }
}

function next(port: MessagePort): Promise<unknown> {
  return new Promise((resolve) => {
    port.onmessage = ({ data }) => resolve(data);
  });
}

/** Runs the handshake after the ends have exchanged their identities. */
async function connect(kind: "dev" | "cli", port: MessagePort): Promise<End> {
  const self: Identity = await generateKeys(kind);
  const hello = next(port);
  port.postMessage({ id: self.id, sealKey: self.sealKey });
  const handshake = new Handshake(self, (await hello) as SealPeer);
  const record = next(port);
  const put = (sealed: Bytes) => port.postMessage(sealed, [sealed.buffer]);
  if (kind === "cli") {
    put(await handshake.start());
    return new End(new Sealed(await handshake.finish((await record) as Bytes), put), port);
  }
  const { reply, channel } = await handshake.answer((await record) as Bytes);
  const end = new End(new Sealed(channel, put), port);
  put(reply);
  return end;
}

let end: End | undefined;

self.onmessage = async ({ data }: MessageEvent<Order>) => {
  if (data.t === "connect") {
    end = await connect(data.kind, data.port);
    self.postMessage(null);
    return;
  }
  const message = data.t === "send" ? { text, image }[data.payload](data.size) : null;
  const waited = watch();
  const began = performance.now();
  await (message ? end?.send(message, data.volume) : end?.receive(data.volume));
  const report: Report = { took: performance.now() - began, waited: waited() };
  self.postMessage(report);
};
