// Starts what a worker serves its pages with.
import { openDb } from "../api/db";
import type { FromLink, ToLink } from "../api/messages";
import { t } from "../i18n/link";
import { loadOrMakeIdentity } from "./identity";
import { Link } from "./link";
import type { Outbox } from "./outbox";
import { Saving } from "./saving";
import { type Sending, startSending } from "./sending";
import { TIMING, type Timing } from "./timing";

export interface ServiceOptions {
  timing?: Timing;
  /** Keeps the senders of several workers apart, and tells which pages and workers run. */
  locks?: Pick<LockManager, "request">;
  makeSocket?: (url: string, protocol: string) => WebSocket;
  /** Pages come and go, and the worker does not end with the first. */
  shared?: boolean;
  /** What a page may leave unconfirmed, in bytes. */
  unconfirmed?: number;
}

export interface Parts {
  link: Link;
  outbox: Outbox;
  saving: Saving;
  stop(): void;
}

/** `tell` takes what the parts say, with its size in bytes where that is known. Resolves with null where they cannot work. */
export async function openParts(
  start: ToLink & { t: "start" },
  options: ServiceOptions,
  tell: (message: FromLink, bytes?: number) => void,
): Promise<Parts | null> {
  try {
    const db = await openDb();
    const identity = await loadOrMakeIdentity(db);
    const timing = options.timing ?? TIMING;
    const saving = new Saving({
      db,
      clientId: identity.id,
      delay: timing.copyDelay,
      link: () => link,
      outbox: () => sending.outbox,
    });
    const sending: Sending = startSending({
      db,
      clientId: identity.id,
      post: tell,
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
      post: (message, bytes) => {
        saving.said(message);
        tell(message, bytes);
      },
      reachable: (deviceId, opening) => {
        sending.sender.reachable(deviceId, opening);
        saving.reachable(deviceId, opening > 0);
      },
      lost: (deviceId) => void sending.lost(deviceId),
      makeSocket: options.makeSocket ?? ((url, protocol) => new WebSocket(url, protocol)),
    });
    tell({ t: "me", id: identity.id, label: start.label });
    await sending.outbox.load();
    await link.start();
    const stop = (): void => {
      sending.stop();
      saving.stop();
      link.stop();
    };
    return { link, outbox: sending.outbox, saving, stop };
  } catch (err) {
    tell({ t: "link", state: { state: "unsupported", ...explain(err) } });
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
