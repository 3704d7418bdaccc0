// The messages between the page of a guest link and its worker.
import type { HostStatus } from "../api/contract";
import type { WireEvent } from "../api/messages";
import type { Translation } from "../i18n/i18n";

/** How the page reaches its session, or why it does not. */
export type GuestState =
  | { is: "connecting"; error: string | null }
  | { is: "open" }
  /** The host is not connected to the relay. */
  | { is: "offline" }
  /** The link no longer works, and there are no retries. */
  | { is: "revoked" }
  | { is: "expired" }
  /** The relay accepts no guests, or does not know the host. */
  | { is: "refused"; message: string }
  | { is: "unknown" }
  /** The relay does not answer claims. */
  | { is: "oldRelay" };

/** The facts of a link that the page shows. Its keys stay in the worker. */
export interface LinkFacts {
  deviceId: string;
  sessionId: string;
  expiresAt: number;
}

export type ToGuest =
  | { t: "start"; fragment: string; origin: string; label: string; translation: Translation }
  | { t: "wake" }
  | { t: "request"; id: number; name: string; fields: object };

export type FromGuest =
  | { t: "link"; link: LinkFacts }
  /** The link cannot be used, and no connection is made. */
  | { t: "no"; why: "missing" | "damaged" | "newer" | "noKeys" }
  /** A higher `opening` means a new channel. */
  | { t: "state"; state: GuestState; status: HostStatus; opening: number }
  | { t: "event"; event: WireEvent }
  | { t: "answer"; id: number; result: unknown }
  /** Without a kind, the host could not be reached. */
  | { t: "failed"; id: number; kind: number | null; message: string };
