// The prompts that no host has received. The worker stores them in IndexedDB and sends them; pages show them.

import type { NewSession, PromptImage } from "./contract";
import type { ImageBlock } from "./types";

/** Stands for the session's id before the session exists. */
export const NO_SESSION = "new";

/** One prompt to send. Its clientKey makes retries safe: the host accepts it once. */
export interface OutboxItem {
  clientKey: string;
  /** The identity that sends it; absent in items of older versions. */
  clientId?: string;
  deviceId: string;
  /** The project of the session, if it was known. */
  projectId?: string;
  sessionId: string;
  text: string;
  createdAt: number;
  /** Images of this browser are stored with the prompt; the others are on the host. */
  images?: (PromptImage | ImageBlock)[];
  /** The session to create for it; absent once it exists. */
  start?: NewSession;
  /** The host was asked to create the session: it may exist although no answer arrived. */
  asked?: boolean;
  /** It was discarded after the host was asked to create the session, which must be deleted. */
  discarded?: boolean;
  /** Whether the prompt is for the running turn instead of a later one. */
  steer?: boolean;
  /** The browser could not store it: it is lost with the page. */
  unstored?: boolean;
  /** The host's error; null while it is unsent. */
  error: string | null;
  /** The kind of the error. */
  kind?: number;
}

/** The outcome of a prompt that left the outbox. */
export interface Gone {
  clientKey: string;
  /** "queued" and "taken": the host has it. "removed": it was removed from the host's queue. */
  outcome: "queued" | "taken" | "removed" | "discarded";
}

/** A change of the outbox. */
export interface OutboxNews {
  changed: OutboxItem[];
  gone: Gone[];
  /** The uploaded part of a prompt's images, from 0 to 1. */
  progress?: { clientKey: string; done: number };
}

/** Returns the kind of the error of an item that failed, if the host named one. */
export function kindOf({ error, kind }: OutboxItem): { kind?: number } {
  return error === null || kind === undefined ? {} : { kind };
}

/** Compares items by the order in which they are sent. */
export function byAge(a: OutboxItem, b: OutboxItem): number {
  return a.createdAt - b.createdAt || (a.clientKey < b.clientKey ? -1 : 1);
}
