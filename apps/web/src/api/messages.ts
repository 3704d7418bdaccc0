// What a page and its worker say to each other. The worker sends lists, so that a burst of events is one message.

import type { Translation } from "../i18n/i18n";
import type { Device, DevicePath, HostStatus, LinkState, PairingState } from "./contract";
import type { LinkDiagnosis } from "./diagnosis";
import type { OutboxItem, OutboxNews } from "./outbox";
import type { Approval } from "./types";

/** Where both ends speak: a Worker seen from the page, the global scope seen from the worker. */
export interface Port<Send, Receive> {
  postMessage(message: Send): void;
  onmessage: ((event: MessageEvent<Receive>) => void) | null;
  close?(): void;
}

export type PagePort = Port<ToLink, FromLink[]>;
export type LinkPort = Port<FromLink[], ToLink>;

export type ToLink =
  /**
   * With a translation of the messages of the worker, unless it speaks English. The page holds the lock for as long as
   * it is there, where its worker may outlive it.
   */
  | { t: "start"; relayUrl: string; label: string; translation?: Translation; lock?: string }
  /** Everything up to a mark was taken. */
  | { t: "mark" }
  | { t: "relay"; relayUrl: string }
  | { t: "invite"; invite: string }
  /** Logs in again under another name. */
  | { t: "label"; label: string }
  /** force: dial now, also after a refusal. Otherwise: check whether the connection still lives. */
  | { t: "wake"; force: boolean }
  /** Whether somebody can see the page: a dead connection is noticed sooner then. */
  | { t: "visible"; visible: boolean }
  /** Keeps a channel to the device open from now on. */
  | { t: "use"; deviceId: string }
  /** With an approval: the answer to it, which the worker signs with the key of this browser. */
  | { t: "request"; id: number; deviceId: string; name: string; fields: object; approval?: Approval }
  /** Asks for what this browser kept of a device. Answered with a Saved, or with null. */
  | { t: "recall"; id: number; deviceId: string; what: Recall }
  /** Keeps a prompt and sends it. Answered when it is on disk. */
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

/** An event as it came: of this version or of a newer one. */
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
  /** The worker holds the lock for as long as it runs. */
  | { t: "worker"; lock: string }
  /** Is to be answered by a mark. */
  | { t: "mark" }
  /** Something failed in the worker that nobody expected. */
  | { t: "fault"; message: string }
  | { t: "devices"; devices: Device[] | null }
  | { t: "paths"; paths: Record<string, DevicePath[]> }
  /** `opening` counts the channels that were opened to this device. */
  | { t: "host"; deviceId: string; status: HostStatus; opening: number }
  | { t: "event"; deviceId: string; event: WireEvent }
  /** `here`: it happened in the worker of this page, over its channel. */
  | { t: "outbox"; news: OutboxNews; here: boolean }
  | { t: "answer"; id: number; result: unknown }
  | { t: "failure"; id: number; failure: Failure }
  | { t: "pairing"; id: number; state: PairingState }
  | { t: "diagnosis"; id: number; state: LinkDiagnosis };

/** A refusal of the host. */
export class RefusedError extends Error {
  override name = "RefusedError";
  constructor(
    readonly kind: number,
    message: string,
    /** The device that has the session now, where it was moved. */
    readonly movedTo?: string,
  ) {
    super(message);
  }
}

/** No way to the host now. */
export class UnreachableError extends Error {
  override name = "UnreachableError";
}

export function failureOf(err: unknown): Failure {
  if (err instanceof RefusedError) {
    return { code: "api", kind: err.kind, message: err.message };
  }
  return { code: "offline", message: err instanceof Error ? err.message : String(err) };
}
