// The worker's end of the port: takes what the page asks, answers in batches.

import { openDb } from "../api/db";
import { type FromLink, failureOf, type LinkPort, type ToLink } from "../api/messages";
import { speak } from "../i18n/i18n";
import { t } from "../i18n/link";
import { loadOrMakeIdentity } from "./identity";
import { Link } from "./link";
import type { Outbox } from "./outbox";
import { Saving } from "./saving";
import { startSending } from "./sending";
import { TIMING, type Timing } from "./timing";

export interface ServiceOptions {
  timing?: Timing;
  /** Keeps senders of several tabs apart. */
  locks?: Pick<LockManager, "request">;
  makeSocket?: (url: string, protocol: string) => WebSocket;
}

/** What one page is served with. */
interface Parts {
  link: Link;
  outbox: Outbox;
  saving: Saving;
  stop(): void;
}

/** Serves one page on the port. Returns a function that ends it. */
export function serveLink(port: LinkPort, options: ServiceOptions = {}): () => void {
  const outbox = new Batch((batch) => port.postMessage(batch));
  const post = (message: FromLink): void => outbox.add(message);
  let parts: Promise<Parts | null> = Promise.resolve(null);
  let chain: Promise<void> = Promise.resolve();
  port.onmessage = ({ data }) => {
    if (data.t === "start") {
      if (data.translation) {
        speak(data.translation);
      }
      parts = open(data, post, options);
    }
    // In the order of arrival, which matters for requests.
    chain = chain.then(async () => {
      const ready = await parts;
      if (ready) {
        handle(ready, data, post);
      } else if ("id" in data) {
        post({ t: "failure", id: data.id, failure: { code: "offline", message: t("link.service.cannotWork") } });
      }
    });
  };
  return () => {
    port.onmessage = null;
    void parts.then((all) => all?.stop());
  };
}

async function open(
  start: ToLink & { t: "start" },
  post: (message: FromLink) => void,
  options: ServiceOptions,
): Promise<Parts | null> {
  try {
    const db = await openDb();
    const identity = await loadOrMakeIdentity(db);
    const timing = options.timing ?? TIMING;
    const saving = new Saving({ db, clientId: identity.id, delay: timing.copyDelay, link: () => link });
    const sending = startSending({
      db,
      clientId: identity.id,
      post,
      locks: options.locks ?? globalThis.navigator?.locks,
      link: () => link,
      saving,
    });
    const link: Link = new Link({
      db,
      identity,
      relayUrl: start.relayUrl,
      label: start.label,
      timing,
      post: (message) => {
        saving.said(message);
        post(message);
      },
      reachable: (deviceId, opening) => {
        sending.sender.reachable(deviceId, opening);
        if (opening) {
          saving.reachable(deviceId);
        }
      },
      lost: (deviceId) => void sending.lost(deviceId),
      makeSocket: options.makeSocket ?? ((url, protocol) => new WebSocket(url, protocol)),
    });
    post({ t: "me", id: identity.id, label: start.label });
    await sending.outbox.load();
    await link.start();
    const stop = (): void => {
      sending.stop();
      saving.stop();
      link.stop();
    };
    return { link, outbox: sending.outbox, saving, stop };
  } catch (err) {
    post({ t: "link", state: { state: "unsupported", ...explain(err) } });
    return null;
  }
}

function explain(err: unknown): { reason: string; advice: string } {
  const name = err instanceof Error ? err.name : "";
  if (name === "NotSupportedError" || name === "SyntaxError") {
    return {
      reason: t("link.service.noKeys"),
      advice: t("link.service.update"),
    };
  }
  return {
    reason: t("link.service.noStorage", { reason: err instanceof Error ? err.message : String(err) }),
    advice: t("link.service.allowStorage"),
  };
}

function handle({ link, outbox, saving }: Parts, message: ToLink, post: (message: FromLink) => void): void {
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
    case "label":
      link.setLabel(message.label);
      return;
    case "wake":
      link.wake(message.force);
      return;
    case "visible":
      link.setVisible(message.visible);
      if (!message.visible) {
        saving.flush();
      }
      return;
    case "use":
      link.use(message.deviceId);
      return;
    case "request": {
      const { deviceId, name, fields, approval } = message;
      answer(message.id, saving.through(deviceId, name, fields, link.request(deviceId, name, fields, approval)));
      return;
    }
    case "recall":
      answer(message.id, saving.recall(message.deviceId, message.what));
      return;
    case "put":
      answer(message.id, outbox.add(message.item));
      return;
    case "retry":
      void outbox.retry(message.clientKey);
      return;
    case "discard":
      void outbox.discard(message.clientKey);
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
