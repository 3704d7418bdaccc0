// Helpers of a diagnosis: one channel as a queue of records, timeouts, and the meaning of each refusal.

import type { Bytes } from "@scorel/protocol";
import { Kind, type Reason } from "@scorel/protocol/wire";
import { type Finding, StepFailure } from "../api/diagnosis";
import type { Outage } from "../api/types";
import { t } from "../i18n/doctor";
import type { RelayError } from "./asks";
import type { ConnectionEnd } from "./connection";
import type { Sealed } from "./sealed";

/** The channel ended before the awaited record arrived. */
export class ClosedError extends Error {
  override name = "ClosedError";
  constructor(readonly reason: Reason) {
    super(t("doctor.link.channelClosed", { reason }));
  }
}

/** The records of one channel, read in order. */
export class Line {
  readonly #records: Bytes[] = [];
  #closed: ClosedError | null = null;
  #wake: () => void = () => {};

  put(record: Bytes): void {
    this.#records.push(record);
    this.#wake();
  }

  /** Closes the line. Records received before can still be read. */
  close(reason: Reason): void {
    this.#closed ??= new ClosedError(reason);
    this.#wake();
  }

  /** Returns the next record. Rejects with ClosedError. Only one reader at a time. */
  async next(): Promise<Bytes> {
    for (;;) {
      const record = this.#records.shift();
      if (record) {
        return record;
      }
      if (this.#closed) {
        throw this.#closed;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** The part of a host's answer that a diagnosis reads. */
export interface Answer {
  type?: string;
  message?: string;
  result?: { host?: { version?: string; outages?: Outage[] } };
}

/** Reads until the answer to `requestId` arrives, skipping events. */
export async function readAnswer(line: Line, sealed: Sealed, requestId: string): Promise<Answer> {
  for (;;) {
    const message = await sealed.take(await line.next());
    const answer = message
      ? (JSON.parse(new TextDecoder().decode(message)) as Answer & { requestId?: string })
      : undefined;
    if (answer?.requestId === requestId) {
      return answer;
    }
  }
}

/** Rejects with `late` when the promise takes longer than `ms`. */
export function within<T>(ms: number, promise: Promise<T>, late: Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

const LOGIN: Partial<Record<Kind, Finding>> = {
  [Kind.bad_version]: "login_version",
  [Kind.bad_proof]: "login_proof",
  [Kind.wrong_authority]: "login_name",
  [Kind.rate_limited]: "login_rate",
  [Kind.limit]: "login_rate",
  [Kind.unavailable]: "login_unavailable",
  [Kind.shutting_down]: "login_unavailable",
};

/** Returns the failure for a login that did not complete. */
export function loginFailure(end: ConnectionEnd): StepFailure {
  if (end.kind === undefined) {
    return new StepFailure("login_lost", end.message ?? t("doctor.link.relayHungUp"));
  }
  if (end.kind === Kind.bad_frame) {
    // Detected by either side rather than decided by the relay.
    return new StepFailure("login_broken", t("doctor.link.loginBroke", { message: end.message }));
  }
  return new StepFailure(LOGIN[end.kind] ?? "login_refused", t("doctor.link.relaySays", { message: end.message }));
}

const CHANNEL: Partial<Record<number, Finding>> = {
  [Kind.unauthorized]: "channel_refused",
  [Kind.device_offline]: "channel_offline",
  [Kind.limit]: "channel_limit",
  [Kind.rate_limited]: "channel_limit",
};

/** Returns the failure for a relay that opened no channel. */
export function channelFailure(err: RelayError): StepFailure {
  return new StepFailure(CHANNEL[err.kind] ?? "channel_failed", t("doctor.link.relaySays", { message: err.message }));
}

/** Returns the failure for a channel without a working seal. */
export function sealFailure(err: unknown): StepFailure {
  if (err instanceof StepFailure) {
    return err;
  }
  if (!(err instanceof ClosedError)) {
    return new StepFailure("seal_broken", t("doctor.link.doesNotOpen"));
  }
  switch (err.reason) {
    case "revoked":
    case "not_authorized":
      return new StepFailure("seal_removed", t("doctor.link.clientRemoved"));
    case "seal_broken":
    case "protocol":
      return new StepFailure("seal_broken", t("doctor.link.hostCannotOpen"));
    default:
      return new StepFailure("seal_lost", err.message);
  }
}

/** Formats a duration as the command line does: "1s", "5m0s", "3h2m0s". */
export function inWords(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const h = hours > 0 ? `${hours}h` : "";
  const m = hours > 0 || minutes > 0 ? `${minutes}m` : "";
  return `${h}${m}${seconds % 60}s`;
}
