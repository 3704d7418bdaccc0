// The worker's end of the port: takes what the page asks, answers in batches.
import { openDb } from "../api/db";
import { type FromLink, failureOf, type LinkPort, type ToLink } from "../api/messages";
import { loadOrMakeIdentity } from "./identity";
import { Link } from "./link";
import { TIMING, type Timing } from "./timing";

export interface ServiceOptions {
  timing?: Timing;
  makeSocket?: (url: string, protocol: string) => WebSocket;
}

/** Serves one page on the port. Returns a function that ends it. */
export function serveLink(port: LinkPort, options: ServiceOptions = {}): () => void {
  const outbox = new Batch((batch) => port.postMessage(batch));
  const post = (message: FromLink): void => outbox.add(message);
  let link: Promise<Link | null> = Promise.resolve(null);
  let chain: Promise<void> = Promise.resolve();
  port.onmessage = ({ data }) => {
    if (data.t === "start") {
      link = open(data, post, options);
    }
    // In the order of arrival, which matters for requests.
    chain = chain.then(async () => {
      const ready = await link;
      if (ready) {
        handle(ready, data, post);
      } else if ("id" in data) {
        post({ t: "failure", id: data.id, failure: { code: "offline", message: "This page cannot work here." } });
      }
    });
  };
  return () => {
    port.onmessage = null;
    void link.then((l) => l?.stop());
  };
}

async function open(
  start: ToLink & { t: "start" },
  post: (message: FromLink) => void,
  options: ServiceOptions,
): Promise<Link | null> {
  try {
    const db = await openDb();
    const identity = await loadOrMakeIdentity(db);
    const link = new Link({
      db,
      identity,
      relayUrl: start.relayUrl,
      label: start.label,
      timing: options.timing ?? TIMING,
      post,
      makeSocket: options.makeSocket ?? ((url, protocol) => new WebSocket(url, protocol)),
    });
    post({ t: "me", id: identity.id, label: start.label });
    await link.start();
    return link;
  } catch (err) {
    post({ t: "link", state: { state: "unsupported", ...explain(err) } });
    return null;
  }
}

function explain(err: unknown): { reason: string; advice: string } {
  const name = err instanceof Error ? err.name : "";
  if (name === "NotSupportedError" || name === "SyntaxError") {
    return {
      reason: "This browser cannot make the keys that scorel needs (Ed25519 and X25519).",
      advice: "Use a current Chrome, Edge, Firefox or Safari.",
    };
  }
  return {
    reason: `This browser does not let the page keep its keys (${err instanceof Error ? err.message : String(err)}).`,
    advice: "Leave private browsing, or allow this site to store data, then reload the page.",
  };
}

function handle(link: Link, message: ToLink, post: (message: FromLink) => void): void {
  const answer = (id: number, result: Promise<unknown>): void => {
    result.then(
      (value) => post({ t: "answer", id, result: value }),
      (err: unknown) => post({ t: "failure", id, failure: failureOf(err) }),
    );
  };
  switch (message.t) {
    case "start":
      return;
    case "relay":
      link.setRelay(message.relayUrl);
      return;
    case "invite":
      link.setInvite(message.invite);
      return;
    case "wake":
      link.wake(message.force);
      return;
    case "use":
      link.use(message.deviceId);
      return;
    case "request":
      answer(message.id, link.request(message.deviceId, message.name, message.fields));
      return;
    case "pair":
      link.pair(message.id, message.code);
      return;
    case "cancel_pair":
      link.cancelPairing(message.id);
      return;
    case "forget":
      answer(message.id, link.forget(message.deviceId));
      return;
    case "diagnose":
      void link.diagnose(message.id);
      return;
    case "cancel_diagnosis":
      link.cancelDiagnosis(message.id);
      return;
  }
}

/** Collects messages until the end of the turn of the event loop. */
class Batch {
  readonly #flush: (messages: FromLink[]) => void;
  #messages: FromLink[] = [];

  constructor(flush: (messages: FromLink[]) => void) {
    this.#flush = flush;
  }

  add(message: FromLink): void {
    this.#messages.push(message);
    if (this.#messages.length === 1) {
      setTimeout(() => {
        const messages = this.#messages;
        this.#messages = [];
        this.#flush(messages);
      }, 0);
    }
  }
}
