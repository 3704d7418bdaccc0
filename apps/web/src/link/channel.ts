// The sealed channel to one device: opened when it is wanted and possible, over the best way that there is, opened
// again when it ends, and the requests that run over it.

import type { Identity } from "@scorel/protocol";
import { Kind as ApiKind } from "@scorel/protocol/gen/api";
import { RefusedError, UnreachableError, type WireEvent } from "../api/messages";
import { t } from "../i18n/link";
import { RequestTable } from "./requests";
import { type ChannelLink, Run, type RunEnd, type Way } from "./run";
import { backoff, type Timing } from "./timing";

export interface ChannelHandler {
  /** The channel opened, moved or ended. */
  onChange(): void;
  onOpen(): void;
  /** `bytes` is the size of its message. */
  onEvent(event: WireEvent, bytes: number): void;
  /** A relay or the host no longer knows this browser. */
  onRevoked(way: Way): void;
  onOffline(way: Way): void;
  /** How long a message and its answer took on a way, in milliseconds. */
  onMeasured(way: Way, rtt: number): void;
}

export class DeviceChannel {
  readonly deviceId: string;
  readonly #identity: Identity;
  readonly #timing: Timing;
  readonly #handler: ChannelHandler;
  readonly #requests: RequestTable;
  /** The ways to the device, the best first. */
  #ways: readonly Way[] = [];
  #run: Run | null = null;
  /** Another channel over a way that may be better. It takes over when no answer is awaited. */
  #spare: Run | null = null;
  /** What its round trip must be, in milliseconds. */
  #below = 0;
  readonly #tried = new WeakSet<ChannelLink>();
  /** Where the device has refused this browser because its access expired. */
  #expired = new WeakSet<ChannelLink>();
  /** How often opening failed in a row over each connection. */
  #failures = new Map<ChannelLink, number>();
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** How many channels were opened so far. */
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

  /** What the channel runs over, once it is open. */
  get way(): Way | null {
    return this.isOpen ? (this.#run?.way ?? null) : null;
  }

  /** Whether the access of this browser expired: nothing is tried before `wake`, or before the device comes back. */
  get expired(): boolean {
    return !this.#run && this.#ways.length > 0 && !this.#next;
  }

  /** Tries again, if access expired. */
  wake(): void {
    this.#expired = new WeakSet();
    this.update(this.#ways);
  }

  /** Says over which ways the device can be reached now. A channel stays where it is while that way is among them. */
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

  /** Opens a second channel over another way, once for each connection, and moves to it if its round trip is `below`. */
  tryOut(way: Way, below: number): void {
    if (this.isOpen && !this.#spare && !this.#tried.has(way.link)) {
      this.#tried.add(way.link);
      this.#below = below;
      this.#spare = this.#begin(way);
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
    if (!current?.isOpen) {
      throw new UnreachableError(t("link.channel.unreachable"));
    }
    const { requestId, answer } = this.#requests.add();
    // A failure to send shows as the end of the channel or as this rejection.
    current
      .send({ type: name, requestId, ...fields })
      .catch((err: unknown) =>
        this.#requests.refuse(requestId, err instanceof RangeError ? tooLarge() : (err as Error)),
      );
    answer.catch((err: { movedTo?: string }) => {
      if (err.movedTo) {
        // It may have been told of this while nobody was connected: pages and copies follow the session now.
        const { sessionId: id } = fields as { sessionId?: string };
        this.#handler.onEvent({ type: "session_moved", id, deviceId: err.movedTo }, 0);
      }
    });
    return answer;
  }

  /** Asks for something small, which also tells how long an answer takes. */
  async ask(name: string): Promise<unknown> {
    const way = this.way;
    const before = performance.now();
    const answer = await this.request(name, {}, 0);
    if (way) {
      this.#handler.onMeasured(way, performance.now() - before);
    }
    return answer;
  }

  /** Fails every request that waits, with the reason. */
  rejectWaiting(message: string): void {
    this.#requests.rejectWaiting(new UnreachableError(message));
  }

  /** The way on which opening failed least; of these the best. None of those on which access expired. */
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

  /** Moves to the spare channel. Whoever follows the device asks for what it missed, as on every new channel. */
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
        new RefusedError(Number(message.kind ?? 0), String(message.message ?? ""), message.deviceId),
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

  /** The channel is over: a spare one takes its place. */
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
  [field: string]: unknown;
}

function has(ways: readonly Way[], link: ChannelLink): boolean {
  return ways.some((way) => way.link === link);
}

function tooLarge(): RefusedError {
  return new RefusedError(ApiKind.too_large, t("link.channel.tooLarge"));
}
