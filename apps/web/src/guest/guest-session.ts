// The session of a guest: the same projection as in the app, without anything stored or sent by this browser.

import { ApiError, type Host, type HostStatus, OfflineError, type SessionView } from "../api/contract";
import { Frames } from "../api/frames";
import { Outgoing } from "../api/outgoing";
import { Session } from "../api/session";
import { Store } from "../api/store";
import type { SessionSummary } from "../api/types";
import type { FromGuest, GuestState, LinkFacts, ToGuest } from "./messages";

/** The port of a link's worker. */
export interface GuestPort {
  postMessage(message: ToGuest): void;
  onmessage: ((event: MessageEvent<FromGuest>) => void) | null;
}

interface Pending {
  resolve: (result: unknown) => void;
  reject: (err: Error) => void;
}

export class GuestSession {
  readonly link: LinkFacts;
  readonly reach = new Store<GuestState>({ is: "connecting", error: null });
  /** The host, for requests about the session. */
  readonly host: Pick<Host, "deviceId" | "status" | "request" | "recall">;
  readonly #status = new Store<HostStatus>("connecting");
  readonly #session: Session;
  readonly #port: GuestPort;
  readonly #asked = new Map<number, Pending>();
  #opening = 0;
  #last = 0;

  constructor(link: LinkFacts, port: GuestPort) {
    this.link = link;
    this.#port = port;
    this.host = {
      deviceId: link.deviceId,
      status: this.#status,
      request: ((name: string, fields: object) => this.#ask(name, fields)) as Host["request"],
      recall: () => Promise.resolve(null),
    };
    const nothing = () => Promise.reject(new OfflineError());
    this.#session = new Session({
      ...{ sessionId: link.sessionId, host: this.host, frames: new Frames(window), me: new Store(null) },
      outgoing: new Outgoing({ post: () => {}, call: nothing }),
      recall: () => Promise.resolve(null),
    });
  }

  get view(): SessionView {
    return this.#session;
  }

  wake(): void {
    this.#port.postMessage({ t: "wake" });
  }

  take(message: FromGuest): void {
    switch (message.t) {
      case "state":
        this.#reached(message.state, message.status, message.opening);
        return;
      case "event": {
        const { event } = message;
        const summary = event.session as SessionSummary | undefined;
        if (event.sessionId === this.link.sessionId) {
          this.#session.take(event);
        } else if (event.type === "session_updated" && summary?.id === this.link.sessionId) {
          this.#session.summarize(summary);
        }
        return;
      }
      case "answer":
        this.#asked.get(message.id)?.resolve(message.result);
        return;
      case "failed": {
        const { id, kind, message: text } = message;
        this.#asked.get(id)?.reject(kind === null ? new OfflineError(text) : new ApiError(kind, text));
      }
    }
  }

  #ask(name: string, fields: object): Promise<unknown> {
    const id = ++this.#last;
    const answer = new Promise<unknown>((resolve, reject) => this.#asked.set(id, { resolve, reject }));
    this.#port.postMessage({ t: "request", id, name, fields });
    return answer.finally(() => this.#asked.delete(id));
  }

  #reached(state: GuestState, status: HostStatus, opening: number): void {
    const before = this.#status.get();
    if (before === "open" && (status !== "open" || opening !== this.#opening)) {
      this.#status.set(status === "open" ? "connecting" : status);
      this.#session.disconnected();
    }
    const fresh = status === "open" && (before !== "open" || opening !== this.#opening);
    this.#opening = opening;
    this.#status.set(status);
    this.reach.set(state);
    if (fresh) {
      this.#session.connected();
    } else {
      this.#session.refresh();
    }
  }
}
