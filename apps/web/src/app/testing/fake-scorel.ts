// A Scorel without a network, for tests of the pages and for viewing them. It keeps the contract's guarantees about
// stores; a test sets everything else.

import type {
  Answer,
  Answered,
  Device,
  DevicePath,
  Host,
  HostStatus,
  LinkState,
  NewSession,
  NewSessions,
  OutgoingPrompt,
  PromptImage,
  QuestionReplied,
  QuestionReply,
  Scorel,
  SessionState,
  SessionView,
  Sought,
  StartingSession,
  WaitingPrompt,
} from "../../api/contract";
import { ApiError } from "../../api/contract";
import type { Saved } from "../../api/copies";
import type { DiagnosisState } from "../../api/diagnosis";
import { emptyLive } from "../../api/projection";
import { Store } from "../../api/store";
import {
  ApiKind,
  type Approval,
  type Event,
  type ImageBlock,
  type Live,
  type Question,
  type QueueItem,
  type Requests,
} from "../../api/types";
import { WindowDrafts } from "../../api/window-drafts";
import { FakeDiagnosis, FakePairing } from "./fake-pairing";

export class FakeSession implements SessionView {
  readonly state: Store<SessionState>;
  readonly sent: string[] = [];
  /** The number of images in each. */
  readonly sentImages: number[] = [];
  readonly answers: ({ approvalId: string; sessionId?: string } & Answer)[] = [];
  readonly replies: ({ questionId: string } & QuestionReply)[] = [];
  replyWith: Partial<QuestionReplied> = {};
  readonly retried: string[] = [];
  readonly discarded: string[] = [];
  readonly steered: string[] = [];
  readonly queues: QueueItem[][] = [];
  canceled = 0;
  fetched = 0;
  fetchedLater = 0;
  readonly soughtFor: string[] = [];
  seekWith: Sought = "failed";
  held = 0;
  answerWith: Partial<Answered> = {};

  constructor(
    readonly sessionId: string,
    state: Partial<SessionState> = {},
  ) {
    this.state = new Store<SessionState>({
      status: "live",
      summary: null,
      savedAt: null,
      entries: [],
      earlier: "none",
      place: null,
      live: emptyLive(),
      timelines: new Map(),
      outgoing: [],
      lastError: null,
      ...state,
    });
  }

  patch(change: Partial<SessionState>): void {
    this.state.set({ ...this.state.get(), ...change });
  }

  patchLive(change: Partial<Live>): void {
    this.patch({ live: { ...this.state.get().live, ...change } });
  }

  /** The error that rejects the next edit of the queue. */
  refuseEdit: Error | null = null;

  async editQueue(items: QueueItem[]): Promise<void> {
    if (this.refuseEdit) {
      throw this.refuseEdit;
    }
    this.queues.push(items);
  }

  async send(text: string, steer = false, images: (PromptImage | ImageBlock)[] = []): Promise<void> {
    this.sent.push(text);
    this.sentImages.push(images.length);
    if (steer) {
      this.steered.push(text);
    }
    const prompt: OutgoingPrompt = {
      clientKey: `key-${this.sent.length}`,
      text,
      ...(images.length > 0 ? { images } : {}),
      state: "device",
      mine: true,
      createdAt: Date.now(),
    };
    this.patch({ outgoing: [...this.state.get().outgoing, prompt] });
  }

  retry(clientKey: string): void {
    this.retried.push(clientKey);
  }

  discard(clientKey: string): void {
    this.discarded.push(clientKey);
    this.patch({ outgoing: this.state.get().outgoing.filter((prompt) => prompt.clientKey !== clientKey) });
  }

  async cancel(): Promise<void> {
    this.canceled++;
  }

  async answer(approval: Approval, answer: Answer, sessionId?: string): Promise<Answered> {
    this.answers.push({ approvalId: approval.id, ...answer, ...(sessionId ? { sessionId } : {}) });
    return { won: true, decidedBy: "cli_me", decision: answer.decision, ...this.answerWith };
  }

  async answerQuestion(question: Question, reply: QuestionReply): Promise<QuestionReplied> {
    this.replies.push({ questionId: question.id, ...reply });
    return {
      won: true,
      answeredBy: "cli_me",
      ...("answer" in reply ? { outcome: "answered", answer: reply.answer } : { outcome: "skipped" }),
      ...this.replyWith,
    };
  }

  loadEarlier(): void {
    this.fetched++;
  }

  loadLater(): void {
    this.fetchedLater++;
  }

  async seek(entryId: string): Promise<Sought> {
    this.soughtFor.push(entryId);
    return this.seekWith;
  }

  leavePlace(): void {
    this.patch({ place: null });
  }

  release(): void {
    this.held--;
  }
}

type Handlers = {
  [K in keyof Requests]?: (
    fields: Requests[K]["request"],
  ) => Promise<Requests[K]["response"]> | Requests[K]["response"];
};

type Begin = (starting: StartingSession) => Promise<string>;

/** New sessions that begin while the host is live. */
export class FakeNewSessions implements NewSessions {
  readonly state = new Store<StartingSession[]>([]);
  readonly #begin: Begin;
  readonly #begun = new Map<string, { promise: Promise<string>; resolve: (sessionId: string) => void }>();
  #live = true;
  #made = 0;

  constructor(begin: Begin) {
    this.#begin = begin;
  }

  begin(start: NewSession, text: string, images: StartingSession["images"] = []): string {
    const clientKey = `start-${++this.#made}`;
    this.state.set([...this.state.get(), { clientKey, start, text, images, state: "waiting" }]);
    void this.#run(clientKey);
    return clientKey;
  }

  begun(clientKey: string): Promise<string> {
    return this.#begunOf(clientKey).promise;
  }

  #begunOf(clientKey: string): { promise: Promise<string>; resolve: (sessionId: string) => void } {
    let known = this.#begun.get(clientKey);
    if (!known) {
      let resolve: (sessionId: string) => void = () => {};
      const promise = new Promise<string>((done) => {
        resolve = done;
      });
      known = { promise, resolve };
      this.#begun.set(clientKey, known);
    }
    return known;
  }

  async stored(): Promise<void> {}

  retry(clientKey: string): void {
    this.#replace(clientKey, null);
    void this.#run(clientKey);
  }

  discard(clientKey: string): void {
    this.state.set(this.state.get().filter((each) => each.clientKey !== clientKey));
  }

  goLive(): void {
    this.#live = true;
    for (const { clientKey } of this.state.get()) {
      void this.#run(clientKey);
    }
  }

  goOffline(): void {
    this.#live = false;
  }

  async #run(clientKey: string): Promise<void> {
    const starting = this.state.get().find((each) => each.clientKey === clientKey);
    if (!this.#live || starting?.state !== "waiting") {
      return;
    }
    try {
      const sessionId = await this.#begin(starting);
      this.#begunOf(clientKey).resolve(sessionId);
      this.discard(clientKey);
    } catch (err) {
      if (err instanceof ApiError) {
        this.#replace(clientKey, err.message);
      }
    }
  }

  #replace(clientKey: string, error: string | null): void {
    const change = ({ error: _, ...each }: StartingSession): StartingSession =>
      error === null ? { ...each, state: "waiting" } : { ...each, state: "failed", error };
    this.state.set(this.state.get().map((each) => (each.clientKey === clientKey ? change(each) : each)));
  }
}

export class FakeHost implements Host {
  readonly status = new Store<HostStatus>("open");
  readonly handlers: Handlers = {};
  readonly requests: { name: string; fields: unknown }[] = [];
  readonly sessions = new Map<string, FakeSession>();
  readonly #listeners = new Set<(event: Event) => void>();

  readonly newSessions: FakeNewSessions;

  constructor(readonly deviceId: string) {
    this.newSessions = new FakeNewSessions(async ({ clientKey, start, text, images }) => {
      const { mode, ...fields } = start;
      const { session } = await this.request("create_session", { ...fields, clientKey });
      if (mode) {
        await this.request("set_mode", { sessionId: session.id, mode });
      }
      const view = this.sessions.get(session.id) ?? new FakeSession(session.id);
      this.sessions.set(session.id, view);
      void view.send(text, false, images);
      return session.id;
    });
  }

  async request<K extends keyof Requests>(name: K, fields: Requests[K]["request"]): Promise<Requests[K]["response"]> {
    this.requests.push({ name, fields });
    const handler = this.handlers[name];
    if (!handler) {
      throw new ApiError(ApiKind.unknown_request, `The host does not know ${name}.`);
    }
    return handler(fields);
  }

  /** This browser's copies, by the name of the request. */
  readonly kept: { [K in keyof Requests]?: Saved<Requests[K]["response"]> } = {};

  async recall<K extends keyof Requests>(name: K): Promise<Saved<Requests[K]["response"]> | null> {
    return (this.kept[name] as Saved<Requests[K]["response"]> | undefined) ?? null;
  }

  onEvent(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: Event): void {
    for (const listener of this.#listeners) {
      listener(event);
    }
  }

  session(sessionId: string): FakeSession {
    const session = this.sessions.get(sessionId) ?? new FakeSession(sessionId, { status: "missing" });
    this.sessions.set(sessionId, session);
    session.held++;
    return session;
  }

  opened(sessionId: string): FakeSession | null {
    const session = this.sessions.get(sessionId);
    return session && session.held > 0 ? session : null;
  }
}

export class FakeScorel implements Scorel {
  readonly link = new Store<LinkState>({ state: "online" });
  readonly relayUrl = new Store("wss://relay.example");
  readonly me = new Store<{ id: string; label: string } | null>({ id: "cli_me", label: "Chrome on Linux" });
  readonly devices = new Store<Device[] | null>([]);
  readonly paths = new Store<Record<string, DevicePath[]>>({});
  readonly waiting = new Store<WaitingPrompt[]>([]);
  readonly drafts = { current: new WindowDrafts() };
  readonly pairings: FakePairing[] = [];
  readonly hosts = new Map<string, FakeHost>();
  readonly forgotten: string[] = [];
  readonly invites: string[] = [];
  readonly diagnoses: FakeDiagnosis[] = [];
  /** The initial state of the next diagnosis. */
  diagnosis: DiagnosisState = { relayUrl: "https://relay.example", relay: [], devices: [], others: [], done: false };
  reconnects = 0;

  async setRelayUrl(url: string): Promise<void> {
    if (!/^(wss?|https?):\/\//.test(url)) {
      throw new Error("A relay address begins with https:// or wss://.");
    }
    this.relayUrl.set(url);
  }

  setLabel(label: string): void {
    this.me.set({ id: "cli_me", label: label || "Chrome on Linux" });
  }

  setInvite(invite: string): void {
    this.invites.push(invite);
  }

  startPairing(): FakePairing {
    return this.#pair(null);
  }

  redeemPairing(code: string): FakePairing {
    return this.#pair(code);
  }

  async forgetDevice(deviceId: string): Promise<void> {
    this.forgotten.push(deviceId);
    this.devices.set(this.devices.get()?.filter((device) => device.id !== deviceId) ?? null);
  }

  host(deviceId: string): FakeHost {
    const host = this.hosts.get(deviceId) ?? new FakeHost(deviceId);
    this.hosts.set(deviceId, host);
    return host;
  }

  retryPrompt(clientKey: string): void {
    this.waiting.set(
      this.waiting.get().map((each) => (each.clientKey === clientKey ? { ...each, error: null } : each)),
    );
  }

  discardPrompt(clientKey: string): void {
    this.waiting.set(this.waiting.get().filter((each) => each.clientKey !== clientKey));
  }

  reconnectNow(): void {
    this.reconnects++;
  }

  diagnose(): FakeDiagnosis {
    const diagnosis = new FakeDiagnosis(this.diagnosis);
    this.diagnoses.push(diagnosis);
    return diagnosis;
  }

  #pair(code: string | null): FakePairing {
    const pairing = new FakePairing(code);
    this.pairings.push(pairing);
    return pairing;
  }
}
