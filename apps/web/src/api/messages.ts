// The messages between a page and its worker. The worker sends lists, so that a burst of events is one message.

import type { Translation } from "../i18n/i18n";
import type { Device, DevicePath, HostStatus, LinkState, PairingState } from "./contract";
import type { LinkDiagnosis } from "./diagnosis";
import type { OutboxItem, OutboxNews } from "./outbox";
import type { Approval } from "./types";

/** One end of the port: a Worker in the page, the global scope in the worker. */
export interface Port<Send, Receive> {
  postMessage(message: Send): void;
  onmessage: ((event: MessageEvent<Receive>) => void) | null;
  close?(): void;
}

export type PagePort = Port<ToLink, FromLink[]>;
export type LinkPort = Port<FromLink[], ToLink>;

export type ToLink =
  /**
   * Carries a translation of the worker's messages, unless they are English. The page holds `lock` while it exists,
   * where its worker may outlive it.
   */
  | { t: "start"; relayUrl: string; label: string; translation?: Translation; lock?: string }
  /** Acknowledges everything up to a mark. */
  | { t: "mark" }
  | { t: "relay"; relayUrl: string }
  | { t: "invite"; invite: string }
  /** Logs in again under another name. */
  | { t: "label"; label: string }
  /** force: dial now, even after a refusal. Otherwise: check whether the connection is alive. */
  | { t: "wake"; force: boolean }
  /** The page's visibility: while it is visible, dead connections are detected sooner. */
  | { t: "visible"; visible: boolean }
  /** Keeps a channel to the device open from now on. */
  | { t: "use"; deviceId: string }
  /** With `approval`, the request is the answer to it, and the worker signs it with this browser's key. */
  | { t: "request"; id: number; deviceId: string; name: string; fields: object; approval?: Approval }
  /** Asks for this browser's stored copy of data of a device. The answer is a Saved, or null. */
  | { t: "recall"; id: number; deviceId: string; what: Recall }
  /** Stores a prompt and sends it. Answered when it is on disk. */
  | { t: "put"; id: number; item: OutboxItem }
  | { t: "retry"; clientKey: string }
  | { t: "discard"; clientKey: string }
  | { t: "pair"; id: number; code: string | null }
  | { t: "cancel_pair"; id: number }
  | { t: "forget"; id: number; deviceId: string }
  | { t: "diagnose"; id: number }
  | { t: "cancel_diagnosis"; id: number };

/** A session, or the answer to a request. */
export interface Recall {
  sessionId?: string;
  name?: string;
  fields?: object;
}

/** An event as received, of this version or a newer one. */
export interface WireEvent {
  type: string;
  sessionId?: string;
  seq?: number;
  [field: string]: unknown;
}

export type Failure = { code: "api"; kind: number; message: string } | { code: "offline"; message: string };

export type FromLink =
  | { t: "link"; state: LinkState }
  | { t: "me"; id: string; label: string }
  | { t: "relay"; relayUrl: string }
  /** The worker holds this lock while it runs. */
  | { t: "worker"; lock: string }
  /** Must be answered with a mark. */
  | { t: "mark" }
  /** An unexpected error in the worker. */
  | { t: "fault"; message: string }
  | { t: "devices"; devices: Device[] | null }
  | { t: "paths"; paths: Record<string, DevicePath[]> }
  /** `opening` counts the channels opened to this device. */
  | { t: "host"; deviceId: string; status: HostStatus; opening: number }
  | { t: "event"; deviceId: string; event: WireEvent }
  /** `here`: the change happened in this page's worker, over its channel. */
  | { t: "outbox"; news: OutboxNews; here: boolean }
  | { t: "answer"; id: number; result: unknown }
  | { t: "failure"; id: number; failure: Failure }
  | { t: "pairing"; id: number; state: PairingState }
  | { t: "diagnosis"; id: number; state: LinkDiagnosis };

/** An error answer of the host. */
export class RefusedError extends Error {
  override name = "RefusedError";
  constructor(
    readonly kind: number,
    message: string,
    /** The device that has the session now, if it was moved. */
    readonly movedTo?: string,
    /** The device that the session is being moved to: the request succeeds once the move has ended or is canceled. */
    readonly movingTo?: string,
  ) {
    super(message);
  }
}

/** The host cannot be reached. */
export class UnreachableError extends Error {
  override name = "UnreachableError";
}

export function failureOf(err: unknown): Failure {
  if (err instanceof RefusedError) {
    return { code: "api", kind: err.kind, message: err.message };
  }
  return { code: "offline", message: err instanceof Error ? err.message : String(err) };
}
