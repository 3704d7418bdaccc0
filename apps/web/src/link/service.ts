// One worker: a link, an outbox and copies for all of its pages, and the messages to them.
import type { FromLink, LinkPort, ToLink } from "../api/messages";
import { speak, translation } from "../i18n/i18n";
import { t } from "../i18n/link";
import { concerns } from "./following";
import { openParts, type Parts, type ServiceOptions } from "./open";
import { leave, look, ownerOf, serve } from "./serve";
import { ServedPage } from "./served-page";

type Start = ToLink & { t: "start" };
type Of<T extends FromLink["t"]> = FromLink & { t: T };

/** Serves one page on the port. Returns a function that ends the worker. */
export function serveLink(port: LinkPort, options: ServiceOptions = {}): () => void {
  const service = new Service(options);
  service.connect(port);
  return () => {
    port.onmessage = null;
    service.stop();
  };
}

export class Service {
  readonly #options: ServiceOptions;
  readonly #pages = new Map<number, ServedPage>();
  #connected = 0;
  /** The last message of each kind that every page receives. */
  readonly #known = new Map<FromLink["t"], FromLink>();
  readonly #hosts = new Map<string, Of<"host">>();
  #parts: Promise<Parts | null> = Promise.resolve(null);
  /** The name of a lock that is held while this worker runs. */
  #lockName: Promise<string> | null = null;

  constructor(options: ServiceOptions = {}) {
    this.#options = options;
  }

  /** Serves another page. */
  connect(port: LinkPort): void {
    const caughtUp = () => void this.#parts.then((parts) => this.#sendAll(page, parts));
    const page = new ServedPage(++this.#connected, port, caughtUp, this.#options.unconfirmed);
    // Handle messages in the order of arrival, which matters for requests.
    let chain: Promise<void> = Promise.resolve();
    port.onmessage = ({ data }) => {
      if (data.t === "mark") {
        page.confirm();
        return;
      }
      if (data.t === "start") {
        this.#start(page, data);
      }
      chain = chain.then(async () => this.#take(page, data, await this.#parts));
    };
  }

  /** Ends the link and all other parts; the pages stay connected without service. */
  stop(): void {
    void this.#parts.then((parts) => parts?.stop());
  }

  /** Reports an unexpected error. */
  fault(message: string): void {
    this.#send({ t: "fault", message });
  }

  #start(page: ServedPage, start: Start): void {
    if (start.translation || translation().parts.link) {
      speak(start.translation ?? { locale: "en", parts: {} }); // another language may have been chosen
    }
    this.#parts = this.#parts.then((parts) => parts ?? openParts(start, this.#options, this.#send));
    if (start.lock) {
      // The page holds this lock, which becomes free when the page ends for any reason.
      this.#locks?.request(start.lock, () => this.#end(page)).catch(() => {});
    }
  }

  #take(page: ServedPage, message: ToLink, parts: Parts | null): void {
    if (page.ended) {
      return;
    }
    if (message.t === "start") {
      this.#admit(page, message, parts);
    } else if (parts) {
      serve(parts, this.#pages, page, message);
      if (message.t === "use") {
        page.post(this.#hosts.get(message.deviceId));
      }
    } else if ("id" in message) {
      page.post({ t: "failure", id: message.id, failure: { code: "offline", message: t("link.service.cannotWork") } });
    }
  }

  /** A page that connects later may bring other settings of the person. */
  #admit(page: ServedPage, { relayUrl, label }: Start, parts: Parts | null): void {
    const { me, relay, link } = Object.fromEntries(this.#known) as { [K in FromLink["t"]]?: Of<K> };
    if (me && me.label !== label) {
      parts?.link.setLabel(label);
    }
    if (relay && relay.relayUrl !== relayUrl) {
      parts?.link.setRelay(relayUrl);
    } else if (link?.state.state === "refused") {
      parts?.link.wake(true);
    }
    this.#pages.set(page.number, page);
    if (parts) {
      look(parts, this.#pages);
    }
    this.#sendAll(page, parts);
    if (this.#options.shared) {
      this.#lockName ??= this.#holdLock();
      void this.#lockName.then((lock) => page.post({ t: "worker", lock }));
    }
  }

  #end(page: ServedPage): void {
    page.end();
    this.#pages.delete(page.number);
    void this.#parts.then((parts) => parts && leave(parts, this.#pages, page));
  }

  #holdLock(): Promise<string> {
    const name = `scorel.worker ${crypto.randomUUID()}`;
    return new Promise((resolve) => {
      const held = () => {
        resolve(name);
        return new Promise<never>(() => {});
      };
      this.#locks?.request(name, held).catch(() => {});
    });
  }

  get #locks(): ServiceOptions["locks"] {
    return this.#options.locks ?? globalThis.navigator?.locks;
  }

  /** Sends a page the whole current state, because it has just connected or has missed messages. */
  #sendAll(page: ServedPage, parts: Parts | null): void {
    for (const message of this.#known.values()) {
      page.post(message);
    }
    if (parts) {
      page.post({ t: "outbox", news: { changed: parts.outbox.items, gone: [] }, here: true });
    }
    for (const deviceId of page.devices) {
      page.post(this.#hosts.get(deviceId));
    }
  }

  /** Sends a message to the pages that it is for. `bytes` is its size, if known. */
  readonly #send = (message: FromLink, bytes?: number): void => {
    switch (message.t) {
      case "pairing":
      case "diagnosis": {
        const [number, id] = ownerOf(message.id);
        this.#pages.get(number)?.post({ ...message, id });
        return;
      }
      case "host":
        this.#hosts.set(message.deviceId, message);
        break;
      case "me":
      case "relay":
      case "link":
      case "devices":
      case "paths":
        this.#known.set(message.t, message);
    }
    for (const page of this.#pages.values()) {
      if (concerns(page, message)) {
        page.post(message, bytes);
      }
    }
  };
}
