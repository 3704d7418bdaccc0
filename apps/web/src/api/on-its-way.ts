// The prompts of one session that are not in its log: those that wait in this browser, those that the host has just
// got from it, and those of the host's queue.
import type { OutgoingPrompt } from "./contract";
import type { Gone, OutboxItem } from "./outbox";
import type { Outgoing } from "./outgoing";
import type { ImageBlock, QueuedPrompt } from "./types";

export interface OnItsWayOptions {
  deviceId: string;
  sessionId: string;
  outgoing: Outgoing;
  /** Something else is to be shown. */
  changed: () => void;
  /** A prompt was handed over to the host. */
  handed: () => void;
  /** Counts the resyncs that were begun. */
  sync: () => number;
}

/** A prompt that the host has, and that the page has not seen there so far. */
interface Handed {
  item: OutboxItem;
  /** The host has its message in the log. */
  taken: boolean;
  /** It was seen in the queue. */
  seen: boolean;
  /** Only a resync that began after this one shows what became of it. */
  sync: number;
}

/** What the page knows of the session. */
export interface Known {
  queue: QueuedPrompt[];
  /** The client keys of the prompts that are in the log. */
  inLog: ReadonlySet<string>;
  /** Whether the last resync is done, and every event since was applied. */
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

  // The answer to a prompt comes behind the events that it caused, where both come over the same channel.
  #take(item: OutboxItem, outcome: Gone["outcome"], here: boolean): void {
    if (this.#isOurs(item) && (outcome === "queued" || outcome === "taken")) {
      const handed = { item, taken: outcome === "taken" && here, seen: false, sync: this.#options.sync() };
      this.#handed.set(item.clientKey, handed);
      this.#options.handed();
    }
  }

  /** Lets go of what the log or the queue shows, or no longer can. */
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

  /** What is on its way: the host's queue first, in its order. */
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
          ...(item.error === null ? {} : { error: item.error }),
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

/** The images of a prompt that waits on the host: those of this browser need not be fetched. */
function imagesOf(mine: OutboxItem | undefined, queued: QueuedPrompt): Pick<OutgoingPrompt, "images"> {
  const named = (queued.content ?? []).filter((block): block is ImageBlock => block.type === "image");
  if (named.length === 0) {
    return {};
  }
  return { images: named.map((block) => mine?.images?.find((each) => each.sha256 === block.sha256) ?? block) };
}
