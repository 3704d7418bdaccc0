// A Scorel without a network, for tests of the pages and for looking at them. It
// keeps the contract's promises about stores; what a test wants to happen, it sets.
import type {
  Answer,
  Answered,
  Device,
  Diagnosis,
  Host,
  HostStatus,
  LinkState,
  OutgoingPrompt,
  Pairing,
  PairingState,
  QuestionReplied,
  QuestionReply,
  Scorel,
  SessionState,
  SessionView,
  Sought,
} from "../../api/contract";
import { ApiError } from "../../api/contract";
import type { DiagnosisState } from "../../api/diagnosis";
import { emptyLive } from "../../api/projection";
import { Store } from "../../api/store";
import {
  ApiKind,
  type Approval,
  type Event,
  type Live,
  type Question,
  type QueueItem,
  type Requests,
} from "../../api/types";

export class FakePairing implements Pairing {
  readonly state: Store<PairingState>;
  cancelled = false;

  constructor(readonly code: string | null) {
    this.state = new Store<PairingState>({ step: "requesting" });
  }

  cancel(): void {
    this.cancelled = true;
  }
}

export class FakeSession implements SessionView {
  readonly state: Store<SessionState>;
  readonly sent: string[] = [];
  readonly answers: ({ approvalId: string; sessionId?: string } & Answer)[] = [];
  readonly replies: ({ questionId: string } & QuestionReply)[] = [];
  replyWith: Partial<QuestionReplied> = {};
  readonly retried: string[] = [];
  readonly discarded: string[] = [];
  readonly steered: string[] = [];
  readonly queues: QueueItem[][] = [];
  cancelled = 0;
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
      entries: [],
      earlier: "none",
      place: null,
      live: emptyLive(),
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

  async editQueue(items: QueueItem[]): Promise<void> {
    this.queues.push(items);
  }

  send(text: string, steer = false): void {
    this.sent.push(text);
    if (steer) this.steered.push(text);
    const prompt: OutgoingPrompt = {
      clientKey: `key-${this.sent.length}`,
      text,
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
    this.cancelled++;
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

export class FakeDiagnosis implements Diagnosis {
  readonly state: Store<DiagnosisState>;
  cancelled = false;

  constructor(state: DiagnosisState) {
    this.state = new Store(state);
  }

  cancel(): void {
    this.cancelled = true;
  }
}

export class FakeHost implements Host {
  readonly status = new Store<HostStatus>("open");
  readonly handlers: Handlers = {};
  readonly requests: { name: string; fields: unknown }[] = [];
  readonly sessions = new Map<string, FakeSession>();
  readonly #listeners = new Set<(event: Event) => void>();

  constructor(readonly deviceId: string) {}

  async request<K extends keyof Requests>(name: K, fields: Requests[K]["request"]): Promise<Requests[K]["response"]> {
    this.requests.push({ name, fields });
    const handler = this.handlers[name];
    if (!handler) throw new ApiError(ApiKind.unknown_request, `The host does not know ${name}.`);
    return handler(fields);
  }

  onEvent(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: Event): void {
    for (const listener of this.#listeners) listener(event);
  }

  session(sessionId: string): FakeSession {
    const session = this.sessions.get(sessionId) ?? new FakeSession(sessionId, { status: "missing" });
    this.sessions.set(sessionId, session);
    session.held++;
    return session;
  }
}

export class FakeScorel implements Scorel {
  readonly link = new Store<LinkState>({ state: "online" });
  readonly relayUrl = new Store("wss://relay.example");
  readonly me = new Store<{ id: string; label: string } | null>({ id: "cli_me", label: "Chrome on Linux" });
  readonly devices = new Store<Device[] | null>([]);
  readonly pairings: FakePairing[] = [];
  readonly hosts = new Map<string, FakeHost>();
  readonly forgotten: string[] = [];
  readonly invites: string[] = [];
  readonly diagnoses: FakeDiagnosis[] = [];
  /** What the next diagnosis begins with. */
  diagnosis: DiagnosisState = { relayUrl: "https://relay.example", relay: [], devices: [], done: false };
  reconnects = 0;

  async setRelayUrl(url: string): Promise<void> {
    if (!/^(wss?|https?):\/\//.test(url)) throw new Error("A relay address begins with https:// or wss://.");
    this.relayUrl.set(url);
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
