// Starts the parts that a worker serves its pages with.
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
  /** Coordinates the senders of several workers, and reports which pages and workers are running. */
  locks?: Pick<LockManager, "request">;
  makeSocket?: (url: string, protocol: string) => WebSocket;
  /** Whether pages share the worker, which then outlives each of them. */
  shared?: boolean;
  /** The most unconfirmed bytes for one page. */
  unconfirmed?: number;
}

export interface Parts {
  link: Link;
  outbox: Outbox;
  saving: Saving;
  stop(): void;
}

/**
 * `tell` is called with the messages of the parts, and their size in bytes if known. Resolves with null if the parts
 * cannot work.
 */
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
      forgotten: (deviceId) => void sending.forgotten(deviceId),
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
