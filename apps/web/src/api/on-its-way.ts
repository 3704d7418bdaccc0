// The prompts of one session that are not in its log: those waiting in this browser, those just handed to the host, and
// those in the host's queue.
import type { OutgoingPrompt } from "./contract";
import { type Gone, kindOf, type OutboxItem } from "./outbox";
import type { Outgoing } from "./outgoing";
import type { ImageBlock, QueuedPrompt } from "./types";

export interface OnItsWayOptions {
  deviceId: string;
  sessionId: string;
  outgoing: Outgoing;
  /** Called when the list has changed. */
  changed: () => void;
  /** Called when a prompt was handed over to the host. */
  handed: () => void;
  /** Returns the number of resyncs begun. */
  sync: () => number;
}

/** A prompt that the host has and that this page has not seen there yet. */
interface Handed {
  item: OutboxItem;
  /** The host has the message in its log. */
  taken: boolean;
  /** The prompt was seen in the queue. */
  seen: boolean;
  /** Only a resync that begins after this one shows whether it was delivered. */
  sync: number;
}

/** What the page knows about the session. */
export interface Known {
  queue: QueuedPrompt[];
  /** The client keys of the prompts that are in the log. */
  inLog: ReadonlySet<string>;
  /** Whether the last resync is complete and all later events were applied. */
  inStep: boolean;
}

export class OnItsWay {
  readonly #options: OnItsWayOptions;
  readonly #stop: (() => void)[];
  #handed = new Map<string, Handed>();

  constructor(options: OnItsWayOptions) {
    this.#options = options;
    const { outgoing, changed } = options;
    this.#stop = [
      outgoing.items.subscribe(changed),
      outgoing.progress.subscribe(changed),
      outgoing.onGone((item, outcome, here) => this.#take(item, outcome, here)),
    ];
  }

  close(): void {
    for (const stop of this.#stop) {
      stop();
    }
  }

  // Over the same channel, the answer to a prompt arrives after the events that it caused.
  #take(item: OutboxItem, outcome: Gone["outcome"], here: boolean): void {
    if (this.#isOurs(item) && (outcome === "queued" || outcome === "taken")) {
      const handed = { item, taken: outcome === "taken" && here, seen: false, sync: this.#options.sync() };
      this.#handed.set(item.clientKey, handed);
      this.#options.handed();
    }
  }

  /** Drops the prompts that the log or the queue shows, or that neither can show any more. */
  settle({ queue, inLog, inStep }: Known): void {
    const sync = this.#options.sync();
    const queued = new Set(queue.map((prompt) => prompt.clientKey));
    for (const [clientKey, handed] of this.#handed) {
      if (queued.has(clientKey)) {
        handed.seen = true;
      } else if (inLog.has(clientKey) || handed.seen || (inStep && (handed.taken || sync > handed.sync))) {
        this.#handed.delete(clientKey);
      }
    }
  }

  /** Returns the prompts in flight, beginning with the host's queue in its order. */
  list({ queue, inLog }: Pick<Known, "queue" | "inLog">, me: string | null): OutgoingPrompt[] {
    const { outgoing } = this.#options;
    const waiting = outgoing.items.get().filter((item) => this.#isOurs(item));
    const handed = [...this.#handed.values()].map(({ item }) => item);
    const mine = new Map([...handed, ...waiting].map((item) => [item.clientKey, item]));
    const queued = new Set(queue.map((prompt) => prompt.clientKey));
    const elsewhere = ({ clientKey }: OutboxItem) => !queued.has(clientKey) && !inLog.has(clientKey);
    const progress = outgoing.progress.get();
    return [
      ...queue.filter((q) => !inLog.has(q.clientKey)).map((q) => onHost(q, mine.get(q.clientKey), me)),
      ...handed.filter(elsewhere).map((item) => shown(item, "host")),
      ...waiting.filter(elsewhere).map((item) => {
        const done = progress.get(item.clientKey);
        return {
          ...shown(item, item.error === null ? "device" : "failed"),
          ...(done === undefined || item.error !== null ? {} : { progress: done }),
          ...(item.error === null ? {} : { error: item.error, ...kindOf(item) }),
          ...(item.unstored ? { unstored: true } : {}),
        };
      }),
    ];
  }

  #isOurs({ deviceId, sessionId }: OutboxItem): boolean {
    return deviceId === this.#options.deviceId && sessionId === this.#options.sessionId;
  }
}

function shown({ clientKey, text, images, steer, createdAt }: OutboxItem, state: OutgoingPrompt["state"]) {
  return {
    ...{ clientKey, text, state, mine: true, createdAt },
    ...(images ? { images } : {}),
    ...(steer ? { steer } : {}),
  };
}

function onHost(queued: QueuedPrompt, mine: OutboxItem | undefined, me: string | null): OutgoingPrompt {
  return {
    clientKey: queued.clientKey,
    text: queued.text,
    ...imagesOf(mine, queued),
    state: "host",
    mine: mine !== undefined || queued.clientId === me,
    ...(queued.mode === "steer" ? { steer: true } : {}),
    createdAt: mine?.createdAt ?? queued.queuedAt,
  };
}

/** Returns the images of a prompt in the host's queue. Those of this browser need not be fetched. */
function imagesOf(mine: OutboxItem | undefined, queued: QueuedPrompt): Pick<OutgoingPrompt, "images"> {
  const named = (queued.content ?? []).filter((block): block is ImageBlock => block.type === "image");
  if (named.length === 0) {
    return {};
  }
  return { images: named.map((block) => mine?.images?.find((each) => each.sha256 === block.sha256) ?? block) };
}
