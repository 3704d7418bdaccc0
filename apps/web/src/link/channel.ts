// The sealed channel to one device and its requests. It opens over the best available path when needed and reopens when
// it ends.

import type { Identity } from "@scorel/protocol";
import { Kind as ApiKind } from "@scorel/protocol/gen/api";
import { RefusedError, UnreachableError, type WireEvent } from "../api/messages";
import { t } from "../i18n/link";
import { RequestTable } from "./requests";
import { type ChannelLink, Run, type RunEnd, type Way } from "./run";
import { backoff, type Timing } from "./timing";

export interface ChannelHandler {
  /** Called when the channel has opened, moved or ended. */
  onChange(): void;
  onOpen(): void;
  /** `bytes` is the size of the event's message. */
  onEvent(event: WireEvent, bytes: number): void;
  /** Called when a relay or the host no longer knows this browser. */
  onRevoked(way: Way): void;
  onOffline(way: Way): void;
  /** Called with the round-trip time over a path, in milliseconds. */
  onMeasured(way: Way, rtt: number): void;
}

export class DeviceChannel {
  readonly deviceId: string;
  readonly #identity: Identity;
  readonly #timing: Timing;
  readonly #handler: ChannelHandler;
  readonly #requests: RequestTable;
  /** The paths to the device, best first. */
  #ways: readonly Way[] = [];
  #run: Run | null = null;
  /** A second channel over a path that may be better. It replaces the current one once no answer is pending. */
  #spare: Run | null = null;
  /** The round-trip time below which the spare channel is used, in milliseconds. */
  #below = 0;
  readonly #tried = new WeakSet<ChannelLink>();
  /** The connections over which the device rejected this browser because its access expired. */
  #expired = new WeakSet<ChannelLink>();
  /** The number of consecutive failures to open over each connection. */
  #failures = new Map<ChannelLink, number>();
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** The number of channels opened so far. */
  opening = 0;

  constructor(deviceId: string, identity: Identity, timing: Timing, handler: ChannelHandler) {
    this.deviceId = deviceId;
    this.#identity = identity;
    this.#timing = timing;
    this.#handler = handler;
    this.#requests = new RequestTable(() => this.#swap());
  }

  get isOpen(): boolean {
    return this.#run?.isOpen === true;
  }

  /** The path of the open channel. */
  get way(): Way | null {
    return this.isOpen ? (this.#run?.way ?? null) : null;
  }

  /**
   * Whether this browser's access expired. The channel is not reopened before `wake`, or before the device comes back.
   */
  get expired(): boolean {
    return !this.#run && this.#ways.length > 0 && !this.#next;
  }

  /** Retries after expired access. */
  wake(): void {
    this.#expired = new WeakSet();
    this.update(this.#ways);
  }

  /**
   * Sets the paths over which the device can be reached now. An open channel stays on its path while that is one of
   * them.
   */
  update(ways: readonly Way[]): void {
    const fresh = ways.some(({ link }) => !has(this.#ways, link));
    this.#ways = ways;
    this.#failures = new Map([...this.#failures].filter(([link]) => has(ways, link)));
    if (this.#spare && !has(ways, this.#spare.way.link)) {
      this.#dropSpare();
    }
    if (this.#run && !has(ways, this.#run.way.link)) {
      this.#run.end("closed");
      this.#finish(this.#run);
    }
    if (ways.length === 0 || fresh) {
      this.#expired = new WeakSet();
      clearTimeout(this.#retry);
      this.#retry = undefined;
    }
    if (this.#retry === undefined) {
      this.#open();
    }
  }

  /**
   * Opens a second channel over another path, once for each connection, and moves to it if its round-trip time is less
   * than `below`.
   */
  tryOut(way: Way, below: number): void {
    if (this.isOpen && !this.#spare && !this.#tried.has(way.link)) {
      this.#tried.add(way.link);
      this.#below = below;
      this.#spare = this.#begin(way);
    }
  }

  /**
   * Sends a request and waits for its answer. Rejects with RefusedError when the host answers with an error, and with
   * UnreachableError when no channel opens within `wait` milliseconds or it ends before the answer.
   */
  async request(name: string, fields: object, wait: number): Promise<unknown> {
    await this.#requests.whenOpen(this.isOpen, wait);
    const current = this.#run;
    if (!current?.isOpen) {
      throw new UnreachableError(t("link.channel.unreachable"));
    }
    const { requestId, answer } = this.#requests.add();
    // A failure to send ends the channel or rejects this request.
    current
      .send({ type: name, requestId, ...fields })
      .catch((err: unknown) =>
        this.#requests.refuse(requestId, err instanceof RangeError ? tooLarge() : (err as Error)),
      );
    answer.catch((err: { movedTo?: string }) => {
      if (err.movedTo) {
        // The session may have been moved while this browser was offline: pages and copies follow it now.
        const { sessionId: id } = fields as { sessionId?: string };
        this.#handler.onEvent({ type: "session_moved", id, deviceId: err.movedTo }, 0);
      }
    });
    return answer;
  }

  /** Sends a small request, which also measures the round-trip time. */
  async ask(name: string): Promise<unknown> {
    const way = this.way;
    const before = performance.now();
    const answer = await this.request(name, {}, 0);
    if (way) {
      this.#handler.onMeasured(way, performance.now() - before);
    }
    return answer;
  }

  /** Rejects every pending request with the message. */
  rejectWaiting(message: string): void {
    this.#requests.rejectWaiting(new UnreachableError(message));
  }

  /** The path with the fewest failures; among equals, the best. Paths with expired access are excluded. */
  get #next(): Way | undefined {
    const ways = this.#ways.filter(({ link }) => !this.#expired.has(link));
    const failures = ways.map(({ link }) => this.#failures.get(link) ?? 0);
    return ways[failures.indexOf(Math.min(...failures))];
  }

  #open(): void {
    this.#retry = undefined;
    const way = this.#next;
    if (way && !this.#run) {
      this.#run = this.#begin(way);
    }
  }

  #begin(way: Way): Run {
    return new Run(way, this.#identity, this.#timing.handshake, {
      onOpen: (run) => this.#opened(run),
      onMessage: (run, message, bytes) => run === this.#run && this.#dispatch(message as Incoming, bytes),
      onEnd: (run, why) => this.#ended(run, why),
    });
  }

  #opened(run: Run): void {
    if (run !== this.#spare) {
      this.#begun(run);
    } else if (run.rtt < this.#below) {
      this.#swap();
    } else {
      this.#dropSpare();
      this.#handler.onMeasured(run.way, run.rtt);
    }
  }

  #begun({ way, rtt }: Run): void {
    this.opening++;
    this.#handler.onMeasured(way, rtt);
    this.#handler.onChange();
    this.#requests.opened();
    this.#handler.onOpen();
  }

  /** Moves to the spare channel. Pages that follow the device resync, as on every new channel. */
  #swap(): void {
    const spare = this.#spare;
    if (spare?.isOpen && this.#requests.idle) {
      const old = this.#run;
      this.#spare = null;
      this.#run = spare;
      old?.end("closed");
      this.#begun(spare);
    }
  }

  #dropSpare(): void {
    this.#spare?.end("closed");
    this.#spare = null;
  }

  #dispatch(message: Incoming, bytes: number): void {
    const { type, requestId = "" } = message;
    if (type === "response") {
      this.#requests.resolve(requestId, message.result);
    } else if (type === "error") {
      this.#requests.refuse(
        requestId,
        new RefusedError(Number(message.kind ?? 0), String(message.message ?? ""), message.deviceId, message.movingTo),
      );
    } else if (type === "event" && typeof message.event?.type === "string") {
      this.#handler.onEvent(message.event, bytes);
    }
  }

  #ended(run: Run, why: RunEnd): void {
    const { link } = run.way;
    if (why === "expired") {
      this.#expired.add(link);
    }
    if (why === "failed") {
      const settled = run.openedAt > 0 && Date.now() - run.openedAt >= this.#timing.settled;
      this.#failures.set(link, settled ? 1 : (this.#failures.get(link) ?? 0) + 1);
    }
    if (run === this.#spare) {
      this.#spare = null;
    } else {
      this.#finish(run);
    }
    if (why === "revoked") {
      this.#handler.onRevoked(run.way);
    } else if (why === "offline") {
      this.#handler.onOffline(run.way);
    } else {
      this.#later();
    }
  }

  /** Handles the end of a channel; a spare one replaces it. */
  #finish(run: Run): void {
    if (run !== this.#run) {
      return;
    }
    this.#run = this.#spare;
    this.#spare = null;
    this.#requests.dropSent();
    if (this.#run?.isOpen) {
      this.#begun(this.#run);
    } else {
      this.#handler.onChange();
    }
  }

  #later(): void {
    const next = this.#next;
    if (next && !this.#run && this.#retry === undefined) {
      const failures = this.#failures.get(next.link) ?? 0;
      const wait = failures === 0 ? 0 : backoff(this.#timing, failures - 1);
      this.#retry = setTimeout(() => this.#open(), wait);
    }
  }
}

interface Incoming {
  type?: string;
  requestId?: string;
  event?: WireEvent;
  deviceId?: string;
  movingTo?: string;
  [field: string]: unknown;
}

function has(ways: readonly Way[], link: ChannelLink): boolean {
  return ways.some((way) => way.link === link);
}

function tooLarge(): RefusedError {
  return new RefusedError(ApiKind.too_large, t("link.channel.tooLarge"));
}
