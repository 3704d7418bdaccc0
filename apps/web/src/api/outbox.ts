// The prompts that no host has yet. The worker keeps them in IndexedDB and sends them; pages show them.

import type { NewSession, PromptImage } from "./contract";
import type { ImageBlock } from "./types";

/** Takes the place of a session's id while there is no session. */
export const NO_SESSION = "new";

/** One prompt on its way. Its clientKey makes every retry safe: the host takes it once. */
export interface OutboxItem {
  clientKey: string;
  /** The identity that it is sent with; absent in items of older versions. */
  clientId?: string;
  deviceId: string;
  /** Of the session, where it was known. */
  projectId?: string;
  sessionId: string;
  text: string;
  createdAt: number;
  /** Those of this browser are kept with the prompt by their bytes, the others are on the host. */
  images?: (PromptImage | ImageBlock)[];
  /** The session that begins with it; absent once there is one. */
  start?: NewSession;
  /** The host was asked for the session: it may exist although no answer came. */
  asked?: boolean;
  /** A person discarded it after the host was asked for its session, which is to be deleted. */
  discarded?: boolean;
  /** It is for the turn that runs, not for its end. */
  steer?: boolean;
  /** The disk of the browser refused it: it lives as long as the page. */
  unstored?: boolean;
  /** The host's refusal; null while it is still to be sent. */
  error: string | null;
  /** The kind of the refusal. */
  kind?: number;
}

/** What became of a prompt that is no longer in the outbox. */
export interface Gone {
  clientKey: string;
  /** "queued" and "taken": the host has it. "removed": somebody removed it from the host's queue. */
  outcome: "queued" | "taken" | "removed" | "discarded";
}

/** What has changed in the outbox. */
export interface OutboxNews {
  changed: OutboxItem[];
  gone: Gone[];
  /** How much of a prompt's images the host has, from 0 to 1. */
  progress?: { clientKey: string; done: number };
}

/** The order in which prompts are sent. */
export function byAge(a: OutboxItem, b: OutboxItem): number {
  return a.createdAt - b.createdAt || (a.clientKey < b.clientKey ? -1 : 1);
}
