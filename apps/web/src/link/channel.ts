// The sealed channel to one device: opened when it is wanted and possible, opened
// again when it ends, and the requests that run over it.

import { type Bytes, Handshake, type Identity, SealBroken, utf8 } from "@scorel/protocol";
import { Kind as ApiKind } from "@scorel/protocol/gen/api";
import { Kind, type Reason } from "@scorel/protocol/wire";
import { RefusedError, UnreachableError, type WireEvent } from "../api/messages";
import { t } from "../i18n/link";
import { RelayError } from "./asks";
import type { Pin } from "./pins";
import { RequestTable } from "./requests";
import { Sealed } from "./sealed";
import { backoff, type Timing } from "./timing";

/** What a channel asks of the link that it runs over. */
export interface ChannelLink {
  openChannel(deviceId: string): Promise<number>;
  bindChannel(number: number, owner: DeviceChannel): void;
  closeChannel(number: number, reason: Reason): void;
  sendRecord(number: number, payload: Bytes): void;
}

export interface ChannelHandler {
  /** The channel opened or ended. */
  onChange(): void;
  onOpen(): void;
  /** `bytes` is the size of its message. */
  onEvent(event: WireEvent, bytes: number): void;
  /** The relay or the host no longer knows this browser. */
  onRevoked(): void;
  onOffline(): void;
}

/** Whether there is a way to the device now. */
export type Way = { link: ChannelLink; pin: Pin } | null;

interface Run {
  readonly link: ChannelLink;
  readonly handshake: Handshake;
  number: number | null;
  sealed: Sealed | null;
  inbox: Promise<void>;
  over: boolean;
  openedAt: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class DeviceChannel {
  readonly deviceId: string;
  readonly #identity: Identity;
  readonly #timing: Timing;
  readonly #handler: ChannelHandler;
  readonly #requests: RequestTable;
  #way: Way = null;
  #run: Run | null = null;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** How many channels were opened so far. */
  opening = 0;

  constructor(deviceId: string, identity: Identity, timing: Timing, handler: ChannelHandler) {
    this.deviceId = deviceId;
    this.#identity = identity;
    this.#timing = timing;
    this.#handler = handler;
    this.#requests = new RequestTable();
  }

  get isOpen(): boolean {
    return this.#run?.sealed != null;
  }

  /** Says whether the device can be reached now. A new link ends the old channel. */
  update(way: Way): void {
    const changed = way?.link !== this.#way?.link;
    this.#way = way;
    if (changed && this.#run) {
      this.#finish(this.#run, "closed");
    }
    if (!way) {
      clearTimeout(this.#retry);
      this.#retry = undefined;
    } else if (changed) {
      this.#failures = 0;
      this.#open();
    } else if (!this.#run && this.#retry === undefined) {
      this.#open();
    }
  }

  /**
   * Sends a request and waits for its answer. Rejects with RefusedError for the
   * host's no, and with UnreachableError when there is no channel within `wait`
   * milliseconds or it ends before the answer.
   */
  async request(name: string, fields: object, wait: number): Promise<unknown> {
    await this.#requests.whenOpen(this.isOpen, wait);
    const current = this.#run;
    if (!current?.sealed) {
      throw new UnreachableError(t("link.channel.unreachable"));
    }
    const { requestId, answer } = this.#requests.add();
    const message = utf8(JSON.stringify({ type: name, requestId, ...fields }));
    // A failure to send shows as the end of the channel or as this rejection.
    current.sealed
      .send(message)
      .catch((err: unknown) =>
        this.#requests.refuse(requestId, err instanceof RangeError ? tooLarge() : (err as Error)),
      );
    return answer;
  }

  take(number: number, payload: Bytes): void {
    const run = this.#run;
    if (run && run.number === number) {
      run.inbox = run.inbox.then(() => this.#take(run, payload)).catch((err: unknown) => this.#break(run, err));
    }
  }

  /** The relay closed the channel. What came before is still taken. */
  closed(number: number, reason: Reason): void {
    const run = this.#run;
    if (run && run.number === number) {
      run.inbox = run.inbox.then(() => {
        run.number = null;
        this.#ended(run, reason);
      });
    }
  }

  /** Fails every request that waits, with the reason. */
  rejectWaiting(message: string): void {
    this.#requests.rejectWaiting(new UnreachableError(message));
  }

  #open(): void {
    const way = this.#way;
    if (!way || this.#run) {
      return;
    }
    this.#retry = undefined;
    const run: Run = {
      link: way.link,
      handshake: new Handshake(this.#identity, { id: way.pin.id, sealKey: way.pin.sealKey }),
      number: null,
      sealed: null,
      inbox: Promise.resolve(),
      over: false,
      openedAt: 0,
      timer: setTimeout(() => this.#close(run, "protocol"), this.#timing.handshake),
    };
    this.#run = run;
    this.#shakeHands(run).catch((err: unknown) => this.#refused(run, err));
  }

  async #shakeHands(run: Run): Promise<void> {
    const number = await run.link.openChannel(this.deviceId);
    if (run.over) {
      run.link.closeChannel(number, "closed");
      return;
    }
    run.number = number;
    run.link.bindChannel(number, this);
    run.link.sendRecord(number, await run.handshake.start());
  }

  #refused(run: Run, err: unknown): void {
    const kind = err instanceof RelayError ? err.kind : Kind.unknown;
    if (run.over) {
      return;
    }
    this.#finish(run, "closed");
    if (kind === Kind.unauthorized) {
      this.#handler.onRevoked();
    } else if (kind === Kind.device_offline) {
      this.#handler.onOffline();
    } else {
      this.#later();
    }
  }

  async #take(run: Run, payload: Bytes): Promise<void> {
    if (run.over) {
      return;
    }
    if (!run.sealed) {
      await this.#takeHandshake(run, payload);
      return;
    }
    const message = await run.sealed.take(payload);
    if (message && !run.over) {
      this.#dispatch(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(message)), message.length);
    }
  }

  async #takeHandshake(run: Run, payload: Bytes): Promise<void> {
    const channel = await run.handshake.finish(payload);
    const { link, number } = run;
    if (run.over || number === null) {
      return;
    }
    run.sealed = new Sealed(channel, (record) => link.sendRecord(number, record));
    clearTimeout(run.timer);
    run.openedAt = Date.now();
    this.opening++;
    this.#handler.onChange();
    this.#requests.opened();
    this.#handler.onOpen();
  }

  #dispatch(
    message: { type?: string; requestId?: string; event?: WireEvent } & Record<string, unknown>,
    bytes: number,
  ): void {
    const { type, requestId = "" } = message;
    if (type === "response") {
      this.#requests.resolve(requestId, message.result);
    } else if (type === "error") {
      this.#requests.refuse(requestId, new RefusedError(Number(message.kind ?? 0), String(message.message ?? "")));
    } else if (type === "event" && typeof message.event?.type === "string") {
      this.#handler.onEvent(message.event, bytes);
    }
  }

  #break(run: Run, err: unknown): void {
    this.#close(run, err instanceof SealBroken ? "seal_broken" : "protocol");
  }

  #close(run: Run, reason: Reason): void {
    if (!run.over) {
      this.#finish(run, reason);
      this.#later();
    }
  }

  #ended(run: Run, reason: Reason): void {
    if (run.over) {
      return;
    }
    this.#finish(run, "closed");
    if (reason === "revoked" || reason === "not_authorized") {
      this.#handler.onRevoked();
    } else {
      this.#later();
    }
  }

  #finish(run: Run, reason: Reason): void {
    run.over = true;
    run.sealed?.end();
    clearTimeout(run.timer);
    if (run.number !== null) {
      run.link.closeChannel(run.number, reason);
    }
    if (run.openedAt > 0 && Date.now() - run.openedAt >= this.#timing.settled) {
      this.#failures = 0;
    }
    this.#run = null;
    this.#requests.dropSent();
    this.#handler.onChange();
  }

  #later(): void {
    if (this.#way && !this.#run && this.#retry === undefined) {
      this.#retry = setTimeout(() => this.#open(), backoff(this.#timing, this.#failures++));
    }
  }
}

function tooLarge(): RefusedError {
  return new RefusedError(ApiKind.too_large, t("link.channel.tooLarge"));
}
