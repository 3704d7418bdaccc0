import type { Calls } from "./calls";
import type { Host, HostStatus, Readable, SessionView } from "./contract";
import type { Saved, SessionCopy } from "./copies";
import type { Frames } from "./frames";
import type { Recall, ToLink, WireEvent } from "./messages";
import { Starter } from "./new-sessions";
import type { Outgoing } from "./outgoing";
import { Session } from "./session";
import { Store } from "./store";
import type { Approval, Event, Requests, SessionSummary } from "./types";

export interface HostOptions {
  deviceId: string;
  calls: Calls;
  post: (message: ToLink) => void;
  outgoing: Outgoing;
  frames: Frames;
  me: Readable<{ id: string; label: string } | null>;
}

/** How long a session that is no longer held is kept, in milliseconds: people go back and forth. */
const LINGER = 10_000;

interface Held {
  session: Session;
  holders: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** One device, as the pages see it. */
export class HostClient implements Host {
  readonly deviceId: string;
  readonly #options: HostOptions;
  readonly #status = new Store<HostStatus>("connecting");
  readonly #listeners = new Set<(event: Event) => void>();
  readonly #sessions = new Map<string, Held>();
  #opening = 0;
  readonly newSessions: Starter;

  constructor(options: HostOptions) {
    this.#options = options;
    this.deviceId = options.deviceId;
    this.newSessions = new Starter(options.deviceId, options.outgoing);
    options.post({ t: "use", deviceId: options.deviceId });
  }

  get status(): Readable<HostStatus> {
    return this.#status;
  }

  request<K extends keyof Requests>(
    name: K,
    fields: Requests[K]["request"],
    approval?: Approval,
  ): Promise<Requests[K]["response"]> {
    const { calls, deviceId } = this.#options;
    const message = { t: "request", deviceId, name, fields, ...(approval ? { approval } : {}) } as const;
    return calls.call((id) => ({ ...message, id })) as Promise<Requests[K]["response"]>;
  }

  recall<K extends keyof Requests>(
    name: K,
    fields: Requests[K]["request"],
  ): Promise<Saved<Requests[K]["response"]> | null> {
    return this.#recall({ name, fields });
  }

  #recall<T>(what: Recall): Promise<Saved<T> | null> {
    const { calls, deviceId } = this.#options;
    return calls.call((id) => ({ t: "recall", id, deviceId, what })) as Promise<Saved<T> | null>;
  }

  onEvent(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  session(sessionId: string): SessionView {
    let held = this.#sessions.get(sessionId);
    if (!held) {
      held = { session: this.#open(sessionId), holders: 0, timer: undefined };
      this.#sessions.set(sessionId, held);
    }
    clearTimeout(held.timer);
    held.holders++;
    return held.session;
  }

  opened(sessionId: string): SessionView | null {
    return this.#sessions.get(sessionId)?.session ?? null;
  }

  /** Sets the status that the link worker reported. A higher `opening` means a new channel. */
  setStatus(status: HostStatus, opening: number): void {
    const before = this.#status.get();
    if (before === "open" && (status !== "open" || opening !== this.#opening)) {
      // The store is set first: the sessions compose their state from it.
      this.#status.set(status === "open" ? "connecting" : status);
      this.#each((session) => session.disconnected());
    }
    const fresh = status === "open" && (before !== "open" || opening !== this.#opening);
    this.#opening = opening;
    this.#status.set(status);
    if (fresh) {
      this.#each((session) => session.connected());
    } else {
      this.#each((session) => session.refresh());
    }
  }

  /** Applies an event of this device. */
  take(event: WireEvent): void {
    if (event.sessionId) {
      this.#sessions.get(event.sessionId)?.session.take(event);
      return;
    }
    if (event.type === "session_updated") {
      const summary = event.session as SessionSummary;
      this.#sessions.get(summary.id)?.session.summarize(summary);
    }
    for (const listener of [...this.#listeners]) {
      listener(event as unknown as Event);
    }
  }

  #open(sessionId: string): Session {
    const { outgoing, frames, me } = this.#options;
    const recall = () => this.#recall<SessionCopy>({ sessionId });
    const session = new Session({ sessionId, host: this, outgoing, frames, me, recall });
    session.onRelease = () => this.#release(sessionId);
    if (this.#status.get() === "open") {
      session.connected();
    }
    return session;
  }

  #release(sessionId: string): void {
    const held = this.#sessions.get(sessionId);
    if (!held || held.holders === 0) {
      return;
    }
    held.holders--;
    if (held.holders === 0) {
      held.timer = setTimeout(() => this.#drop(sessionId, held), LINGER);
    }
  }

  #drop(sessionId: string, held: Held): void {
    this.#sessions.delete(sessionId);
    held.session.close();
    // Ending the channel also ends the subscription, so a failure does no harm. The worker receives the request even
    // without a channel, to learn that this page no longer follows the session.
    this.request("unsubscribe", { sessionId }).catch(() => {});
  }

  #each(act: (session: Session) => void): void {
    for (const { session } of this.#sessions.values()) {
      act(session);
    }
  }
}
