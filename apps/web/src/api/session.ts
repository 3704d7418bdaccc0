// One session, as a page sees it: its projection, kept in sync with the host across reconnects, together with the
// prompts that this browser has yet to send.

import type { PromptImage } from "./contract";
import {
  type Answer,
  type Answered,
  ApiError,
  type Host,
  type HostStatus,
  OfflineError,
  type OutgoingPrompt,
  type QuestionReplied,
  type QuestionReply,
  type Readable,
  type SessionState,
  type SessionView,
  type Sought,
} from "./contract";
import type { Saved, SessionCopy } from "./copies";
import { keepSame, lastErrorOf } from "./derive";
import { Earlier } from "./earlier";
import type { Frames } from "./frames";
import type { WireEvent } from "./messages";
import { OnItsWay } from "./on-its-way";
import type { Outgoing } from "./outgoing";
import { Place } from "./place";
import { applyResync, emptyProjection, fromCopy, type Projection, prependEntries, projectAll } from "./projection";
import { PromptsInLog } from "./prompts-in-log";
import { answerApproval, answerQuestion, cancelTurn, editQueue } from "./session-calls";
import { Store } from "./store";
import { reported, running, type Timelines } from "./timelines";
import {
  ApiKind,
  type Approval,
  type GetEntriesResponse,
  type ImageBlock,
  type Process,
  type Question,
  type QueueItem,
  type SessionSummary,
} from "./types";

export interface SessionOptions {
  sessionId: string;
  host: Pick<Host, "deviceId" | "status" | "request">;
  outgoing: Outgoing;
  frames: Frames;
  me: Readable<{ id: string; label: string } | null>;
  /** Requests this browser's copy of the session. */
  recall: () => Promise<Saved<SessionCopy> | null>;
  /** The delay before a retry after the host rejected a resync, in milliseconds. */
  resyncRetry?: number;
}

type Phase = "loading" | "live" | "missing";

const RESYNC_RETRY = 3_000;

export class Session implements SessionView {
  readonly sessionId: string;
  readonly #options: SessionOptions;
  readonly #state: Store<SessionState>;
  readonly #onItsWay: OnItsWay;
  readonly #unsubscribeMe: () => void;
  readonly #place: Place;
  readonly #earlier: Earlier;
  readonly #inLog = new PromptsInLog();
  #projection: Projection = emptyProjection();
  #outgoing: OutgoingPrompt[] = [];
  #timelines: Timelines = new Map();
  #pending: WireEvent[] = [];
  #phase: Phase = "loading";
  #trouble: string | null = null;
  #loaded = false;
  /** The stored copy is being read; the resync then starts from it. */
  #recalling = true;
  /** When the shown copy was current, if a copy is shown. */
  #savedAt: number | null = null;
  /** Counts resyncs; an answer to an older one is discarded. */
  #sync = 0;
  #syncing = false;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  /** Called when a holder releases the session. */
  onRelease: () => void = () => {};

  constructor(options: SessionOptions) {
    this.#options = options;
    this.sessionId = options.sessionId;
    this.#onItsWay = new OnItsWay({
      deviceId: options.host.deviceId,
      sessionId: options.sessionId,
      outgoing: options.outgoing,
      changed: () => this.#options.frames.request(this.#publish),
      handed: () => this.#settle(),
      sync: () => this.#sync,
    });
    const retry = options.resyncRetry ?? RESYNC_RETRY;
    this.#earlier = new Earlier({
      sessionId: options.sessionId,
      host: options.host,
      join: (page) => this.#join(page),
      changed: () => this.#publish(),
      retry,
    });
    this.#place = new Place({
      sessionId: options.sessionId,
      host: options.host,
      end: () => this.#projection,
      join: (entries, before) => this.#join({ entries, before }),
      changed: () => this.#publish(),
      retry,
    });
    this.#state = new Store(this.#compose());
    this.#unsubscribeMe = options.me.subscribe(() => this.#options.frames.request(this.#publish));
    options.recall().then(
      (saved) => this.#recalled(saved),
      () => this.#recalled(null),
    );
  }

  get state(): Readable<SessionState> {
    return this.#state;
  }

  send(text: string, steer = false, images: (PromptImage | ImageBlock)[] = []): Promise<void> {
    const { host, outgoing } = this.#options;
    const projectId = this.#projection.summary?.projectId;
    const clientKey = outgoing.add({
      ...{ deviceId: host.deviceId, sessionId: this.sessionId, text },
      ...(projectId ? { projectId } : {}),
      ...(steer ? { steer } : {}),
      ...(images.length > 0 ? { images } : {}),
    });
    this.#publish();
    return outgoing.stored(clientKey);
  }

  editQueue(items: QueueItem[]): Promise<void> {
    return editQueue(this.#options.host, this.sessionId, this.#projection.live, items);
  }

  retry(clientKey: string): void {
    this.#options.outgoing.retry(clientKey);
  }

  discard(clientKey: string): void {
    this.#options.outgoing.discard(clientKey);
  }

  cancel(): Promise<void> {
    return cancelTurn(this.#options.host, this.sessionId, this.#projection.live);
  }

  answer(approval: Approval, answer: Answer, sessionId = this.sessionId): Promise<Answered> {
    return answerApproval(this.#options.host, this.#me, sessionId, approval, answer);
  }

  answerQuestion(question: Question, reply: QuestionReply): Promise<QuestionReplied> {
    return answerQuestion(this.#options.host, this.#me, this.sessionId, question, reply);
  }

  get #me(): string | null {
    return this.#options.me.get()?.id ?? null;
  }

  loadLater(): void {
    this.#place.loadLater();
  }

  seek(entryId: string): Promise<Sought> {
    return this.#place.seek(entryId);
  }

  leavePlace(): void {
    this.#place.leave();
  }

  loadEarlier(): void {
    const { before } = this.#projection;
    if (this.#place.state) {
      this.#place.loadEarlier();
    } else if (this.#phase === "live" && before > 0) {
      this.#earlier.load(before);
    }
  }

  #join(earlier: GetEntriesResponse): void {
    this.#replace(prependEntries(this.#projection, earlier));
    this.#publish();
  }

  release(): void {
    this.onRelease();
  }

  /** Applies an event of this session. */
  take(event: WireEvent): void {
    this.#pending.push(event);
    if (!this.#syncing) {
      this.#options.frames.request(this.#flush);
    }
  }

  /** Applies a new summary of this session. */
  summarize(summary: SessionSummary): void {
    this.#projection = { ...this.#projection, summary };
    if (this.#phase === "missing") {
      this.connected(); // it was moved to this host, or back to it
    }
    this.#options.frames.request(this.#publish);
  }

  /** Requests everything that was missed, after a channel was opened. */
  connected(): void {
    if (this.#recalling) {
      return;
    }
    this.#flush();
    this.#resync();
    this.#publish();
  }

  #recalled(saved: Saved<SessionCopy> | null): void {
    this.#recalling = false;
    // Events from before the copy was read do not follow it. The resync brings their effects.
    this.#pending = [];
    if (this.#closed) {
      return;
    }
    if (saved) {
      this.#loaded = true;
      this.#savedAt = saved.savedAt;
      this.#replace(fromCopy(saved.value, this.#projection.summary));
    }
    if (this.#options.host.status.get() === "open") {
      this.connected();
    } else if (saved) {
      this.#publish();
    }
  }

  /** Recomputes the state after the host's status has changed. */
  refresh(): void {
    this.#publish();
  }

  /** Records that the channel is closed; events received over it still count. */
  disconnected(): void {
    this.#flush();
    this.#sync++;
    this.#syncing = false;
    this.#earlier.interrupt();
    this.#pending = [];
    clearTimeout(this.#retry);
    this.#place.interrupt();
    if (this.#phase === "live") {
      this.#phase = "loading";
    }
    this.#publish();
  }

  /** Ends the session when the last holder has released it. */
  close(): void {
    this.#closed = true;
    this.disconnected();
    this.#onItsWay.close();
    this.#unsubscribeMe();
  }

  #resync(): void {
    const sync = ++this.#sync;
    this.#syncing = true;
    this.#earlier.interrupt();
    clearTimeout(this.#retry);
    this.#options.host.request("resync_events", { sessionId: this.sessionId, ...this.#projection.anchors }).then(
      (response) => {
        if (sync === this.#sync) {
          if (response.mode === "full_reload") {
            this.#place.leave();
          }
          this.#synced(() => applyResync(this.#projection, response));
        }
      },
      (err: unknown) => {
        if (sync === this.#sync) {
          this.#syncFailed(err);
        }
      },
    );
  }

  #synced(apply: () => Projection): void {
    this.#syncing = false;
    this.#phase = "live";
    this.#trouble = null;
    this.#loaded = true;
    this.#savedAt = null;
    this.#replace(apply());
    // Apply the events that arrived while the answer was pending: older ones are recognized by their seq.
    this.#flush();
    this.#settle();
    this.#publish();
  }

  #syncFailed(err: unknown): void {
    this.#syncing = false;
    if (this.#closed || err instanceof OfflineError) {
      return; // the next channel repeats the request
    }
    if (err instanceof ApiError && (err.kind === ApiKind.not_found || err.kind === ApiKind.moved)) {
      this.#phase = "missing";
    } else {
      this.#trouble = err instanceof Error ? err.message : String(err);
      this.#retry = setTimeout(() => this.#resync(), this.#options.resyncRetry ?? RESYNC_RETRY);
    }
    this.#publish();
  }

  // Arrow functions: Frames identifies callbacks by reference.
  readonly #flush = (): void => {
    if (this.#syncing || this.#recalling || this.#pending.length === 0) {
      return;
    }
    const events = this.#pending;
    this.#pending = [];
    const told = events.flatMap((event) => (event.type === "process_event" ? [event.process as Process] : []));
    this.#timelines = reported(this.#timelines, told);
    this.#replace(projectAll(this.#projection, events));
    this.#publish();
  };

  #replace(next: Projection): void {
    const { entries: before } = this.#projection;
    this.#projection = next;
    this.#timelines = running(reported(this.#timelines, next.live.processes), next.live.processes);
    if (next.entries !== before && this.#inLog.learn(before, next.entries)) {
      this.#place.leave(); // it was on the path to another leaf
    }
    this.#settle();
  }

  // Events that wait for the next frame count as applied.
  #settle(): void {
    const inStep = this.#phase === "live" && !this.#syncing;
    if (inStep && this.#pending.length > 0) {
      this.#flush(); // which comes back here
      return;
    }
    this.#onItsWay.settle({ ...this.#sent(), inStep });
  }

  #sent() {
    return { queue: this.#projection.live.queue, inLog: this.#inLog.keys };
  }

  readonly #publish = (): void => {
    this.#state.set(this.#compose());
  };

  #compose(): SessionState {
    const { summary, entries, before, live } = this.#projection;
    this.#outgoing = keepSame(this.#outgoing, this.#onItsWay.list(this.#sent(), this.#me));
    return {
      status: statusOf(this.#options.host.status.get(), this.#phase, this.#loaded),
      summary,
      savedAt: this.#savedAt,
      entries,
      earlier: before === 0 ? "none" : this.#earlier.busy ? "loading" : "some",
      place: this.#place.state,
      live,
      timelines: this.#timelines,
      outgoing: this.#outgoing,
      lastError: this.#trouble ?? (live.turn ? null : lastErrorOf(entries)),
    };
  }
}

/** Returns the status of a session, from its host's status and how far it was read. */
function statusOf(host: HostStatus, phase: Phase, loaded: boolean): SessionState["status"] {
  if (host === "revoked" || host === "expired" || host === "offline") {
    return host;
  }
  if (phase === "missing") {
    return "missing";
  }
  if (phase === "live" && host === "open") {
    return "live";
  }
  return loaded ? "reconnecting" : "loading";
}
