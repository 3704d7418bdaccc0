// What the pages know of the world: stores to read and calls to make. The link
// worker, the seal and the outbox stand behind it; no page talks to a socket.

import type { Saved } from "./copies";
import type { DiagnosisState, LinkDiagnosis } from "./diagnosis";
import type { Timelines } from "./timelines";
import type {
  Approval,
  Decision,
  Event,
  ImageBlock,
  Live,
  Mode,
  Question,
  QuestionOutcome,
  QueueItem,
  Release,
  Requests,
  SessionEntry,
  SessionSummary,
} from "./types";

/** A value that changes, in the shape that useSyncExternalStore wants. `get` returns the same object until it changes. */
export interface Readable<T> {
  get(): T;
  subscribe(listener: () => void): () => void;
}

/** The connection to the chosen relay; "online" also while only another relay of the devices is connected. */
export type LinkState =
  /** This page cannot work here (no secure context, no Ed25519, no IndexedDB ...). */
  | { state: "unsupported"; reason: string; advice: string }
  | { state: "connecting"; attempt: number; retryAt: number | null; lastError: string | null }
  | { state: "online" }
  /** The relay refused the login; trying again will not help. */
  | { state: "refused"; message: string; needsInvite?: boolean };

/** A prompt that no machine has yet. It is sent when its machine can be reached, whatever page is open. */
export interface WaitingPrompt {
  clientKey: string;
  deviceId: string;
  /** Of its session, or of the one that begins with it. */
  projectId?: string;
  /** null while there is no session. */
  sessionId: string | null;
  text: string;
  /** How many images go with it. */
  images: number;
  /** This browser could not store it: it is lost when the page is closed. */
  unstored?: boolean;
  /** Why the machine refused it; null while it is still to be sent. */
  error: string | null;
}

export interface Device {
  id: string;
  label: string;
  online: boolean;
  /** The relay has not told of it since the page was opened. */
  untold?: boolean;
  /** No relay that leads to it is connected now: `online` is what was known last. */
  away?: boolean;
  /** The binding is gone: removed on the machine, or with another browser. Forgetting it clears the row. */
  revoked?: boolean;
  /** A sentence on why this device is not used although the relay lists it. */
  problem?: string;
}

/** One way to reach a device, as this browser sees it. */
export interface DevicePath {
  /** A relay, a listener of the device in its local network, or one on its own machine. */
  kind: "relay" | "network" | "machine" | (string & {});
  url: string;
  state:
    | "used"
    | "ready"
    /** The device is not connected there. */
    | "absent"
    | "connecting"
    /** The login was refused. */
    | "refused"
    /** The device is connected there, and does not answer this page: it may not allow pages of this origin. */
    | "origin"
    /** The relay does not know of the pairing. */
    | "unbound"
    /** The relay says that this browser was removed. */
    | "revoked"
    /** Browsers forbid a page that came over https to connect to it. */
    | "insecure"
    /** Only programs of the device's own machine reach it. */
    | "elsewhere";
  /** How long a message and its answer took last, in milliseconds. */
  rtt?: number;
  /** A sentence of whoever refused. */
  detail?: string;
}

export type PairingState =
  | { step: "requesting" }
  /** Started here: show the code and the command to run on the machine at home. */
  | { step: "showing"; code: string; command: string; expiresAt: number }
  /** Both sides found each other and prove that they know the code. */
  | { step: "confirming"; label: string }
  /** Proven; the machine at home waits for a person to accept. */
  | { step: "accepting"; label: string }
  | { step: "done"; deviceId: string; label: string }
  | { step: "failed"; message: string };

export interface Pairing {
  readonly state: Readable<PairingState>;
  cancel(): void;
}

export interface Diagnosis {
  readonly state: Readable<DiagnosisState>;
  cancel(): void;
}

/** What a diagnosis asks of the page. */
export interface PageParts {
  /** Where the page came from. */
  origin: string;
  fetch(path: string, signal: AbortSignal): Promise<Response>;
  /** The address of the script that runs, as index.html names it. */
  script(): string | null;
}

export interface PageDiagnosisOptions {
  page: PageParts;
  relayUrl: string;
  /** The devices as they are known before the link has looked. */
  devices: readonly Device[];
  /** Starts the link's half. */
  begin: () => void;
  /** It is over, by itself or not. */
  end: () => void;
}

export interface RunningDiagnosis extends Diagnosis {
  /** Runs the page's steps, then hands over to the link. */
  run(): Promise<void>;
  /** Takes what the link has found so far. */
  take(found: LinkDiagnosis): void;
}

export interface Scorel {
  readonly link: Readable<LinkState>;
  readonly relayUrl: Readable<string>;
  /** Rejects with a sentence when the URL is no ws/wss/http/https URL. */
  setRelayUrl(url: string): Promise<void>;
  /** Logs in again with an invite that the relay's operator gave out. The relay needs it once. */
  setInvite(invite: string): void;
  readonly me: Readable<{ id: string; label: string } | null>;
  /** Names this browser; "" gives back the name that it had at first. Logs in again with it. */
  setLabel(label: string): void;
  /** Those that this browser knows, and what the relay says of them; null until either is known. */
  readonly devices: Readable<Device[] | null>;
  /** The paths to each device that a page has used, by its id. */
  readonly paths: Readable<Record<string, DevicePath[]>>;
  /** The prompts that only this browser has, of all devices, in the order in which they were written. */
  readonly waiting: Readable<WaitingPrompt[]>;
  /** Sends a waiting prompt that its machine has refused once more. */
  retryPrompt(clientKey: string): void;
  discardPrompt(clientKey: string): void;
  startPairing(): Pairing;
  redeemPairing(code: string): Pairing;
  forgetDevice(deviceId: string): Promise<void>;
  host(deviceId: string): Host;
  /** Tries to connect now instead of at the end of the back-off. */
  reconnectNow(): void;
  /** Looks at the way to every paired machine, step by step, and changes nothing. */
  diagnose(make: new (options: PageDiagnosisOptions) => RunningDiagnosis): Diagnosis;
}

/** expired: the access of this browser has ended, until the machine gives it more time. */
export type HostStatus = "connecting" | "open" | "offline" | "expired" | "revoked";

/** What a session begins with. */
export interface NewSession {
  projectId: string;
  /** The agent that it runs as; absent is the default one. */
  agent?: string;
  /** Name in config.toml; absent is the default. */
  model?: string;
  /** What the agent may do without asking; absent is the default. */
  mode?: Mode;
  /** It works in a git worktree of its own, not in the project's folder. */
  worktree?: boolean;
}

/** A session that begins with a prompt and that the host does not have yet. */
export interface StartingSession {
  clientKey: string;
  start: NewSession;
  text: string;
  images: (PromptImage | ImageBlock)[];
  /** "waiting": for the host. "failed": the host refused it. */
  state: "waiting" | "failed";
  error?: string;
  /** This browser could not store it: it is lost when the page is closed before it is sent. */
  unstored?: boolean;
}

/** The sessions of a host that are yet to begin. Each keeps its prompt in IndexedDB: nothing is lost or doubled. */
export interface NewSessions {
  readonly state: Readable<StartingSession[]>;
  /** Creates a session with its first prompt as soon as the host can be reached. Returns the key of both. */
  begin(start: NewSession, text: string, images?: StartingSession["images"]): string;
  /** Resolves with the id of the session once the host has it. */
  begun(clientKey: string): Promise<string>;
  /** Resolves once this browser has stored the prompt. */
  stored(clientKey: string): Promise<void>;
  retry(clientKey: string): void;
  discard(clientKey: string): void;
}

export interface Host {
  readonly deviceId: string;
  readonly newSessions: NewSessions;
  readonly status: Readable<HostStatus>;
  /**
   * Waits for the channel (at most 15 s) and for the answer. Rejects with ApiError or OfflineError. With an approval the
   * request is the answer to it, which is signed.
   */
  request<K extends keyof Requests>(
    name: K,
    fields: Requests[K]["request"],
    approval?: Approval,
  ): Promise<Requests[K]["response"]>;
  /** What this browser kept of the answer to a request; null where it kept nothing. */
  recall<K extends keyof Requests>(
    name: K,
    fields: Requests[K]["request"],
  ): Promise<Saved<Requests[K]["response"]> | null>;
  /** Events of the host that belong to no session. */
  onEvent(listener: (event: Event) => void): () => void;
  /** The same object for the same id while anyone holds it. */
  session(sessionId: string): SessionView;
  /** The session if it is open, which this does not change: it may be closed once nobody holds it. */
  opened(sessionId: string): SessionView | null;
}

export class ApiError extends Error {
  constructor(
    readonly kind: number,
    message: string,
  ) {
    super(message);
  }
}

/** The device cannot be reached now; nothing was changed that a retry would double. */
export class OfflineError extends Error {}

/** An image or file of a prompt that this browser sends. Its bytes live with the prompt until the host has it. */
export interface PromptImage {
  /** Lower-case hex; names it on the host. */
  sha256: string;
  blob: Blob;
  /** Of a file: it may be anything, and the host stores it where the agent can read it. */
  name?: string;
}

/** A prompt that is not in the log yet. */
export interface OutgoingPrompt {
  clientKey: string;
  text: string;
  /** Of a prompt with images or files: here by their bytes, or on the host by their names. */
  images?: (PromptImage | ImageBlock)[];
  /** How much of the images the host has, from 0 to 1, while they are sent. */
  progress?: number;
  /** "device": only here yet. "host": the host has it, the agent has not taken it. "failed": the host refused it. */
  state: "device" | "host" | "failed";
  error?: string;
  /** This browser could not store it: it is lost when the page is closed before it is sent. */
  unstored?: boolean;
  /** False for a prompt that another entry sent. */
  mine: boolean;
  /** It is for the turn that runs, not for its end. */
  steer?: boolean;
  createdAt: number;
}

/** What came of looking for an entry. */
export type Sought =
  /** It is among the entries that are here. */
  | "here"
  /** It is on another branch of the session. */
  | "elsewhere"
  /** The session has no such entry. */
  | "missing"
  /** The machine could not be asked now. */
  | "failed";

/** A part in the middle of the log, where a search led to. */
export interface PlaceState {
  /** In file order. */
  entries: SessionEntry[];
  /** The last of them on the path to the session's leaf. */
  tip: string;
  earlier: "none" | "some" | "loading";
  /** What lies between these and the end. When it is here, the place is one with the end. */
  later: "some" | "loading";
}

export interface SessionState {
  status: "loading" | "live" | "reconnecting" | "offline" | "expired" | "revoked" | "missing";
  summary: SessionSummary | null;
  /** When what is shown was true, in Unix milliseconds, where it is the copy of this browser; null once the host has answered. */
  savedAt: number | null;
  /** The end of the log in file order; entries of unknown types included. */
  entries: SessionEntry[];
  /** Whether the host has entries before these; "loading" while they are on their way. */
  earlier: "none" | "some" | "loading";
  /** What is looked at instead of the end. */
  place: PlaceState | null;
  live: Live;
  /** What running operations reported while this page looked. */
  timelines: Timelines;
  outgoing: OutgoingPrompt[];
  /** How the last turn ended, when it did not end well. */
  lastError: string | null;
}

/** What a person says to an approval. */
export interface Answer {
  decision: Decision;
  /** A word to the agent; only with a denial. */
  feedback?: string;
}

/** What came of an answer: the first one counts. */
export interface Answered {
  /** The decision that counts. */
  decision: Decision;
  decidedBy: string;
  /** False when there was an answer already. */
  won: boolean;
  /** What let the call go before anybody answered. */
  released?: Release;
}

/** What a person says to a question of the agent. */
export type QuestionReply = { answer: string } | { skip: true };

/** What came of a reply: the first one counts. */
export interface QuestionReplied {
  outcome: QuestionOutcome;
  answer?: string;
  answeredBy: string;
  /** False when another answer counts. */
  won: boolean;
}

export interface SessionView {
  readonly sessionId: string;
  readonly state: Readable<SessionState>;
  /**
   * Keeps the text in IndexedDB until the host has it: it is never lost and never doubled. Resolves once this browser
   * has stored it.
   */
  send(text: string, steer?: boolean, images?: (PromptImage | ImageBlock)[]): Promise<void>;
  /** Replaces the host's queue by those of its prompts that are named, in this order. */
  editQueue(items: QueueItem[]): Promise<void>;
  retry(clientKey: string): void;
  discard(clientKey: string): void;
  cancel(): Promise<void>;
  /** Fetches some of the entries before those that are looked at. */
  loadEarlier(): void;
  /** Fetches some of the entries after those of the place. */
  loadLater(): void;
  /** Brings an entry here with what stands around it. */
  seek(entryId: string): Promise<Sought>;
  /** Leaves the place for the end. */
  leavePlace(): void;
  /**
   * Rejects when what was shown has changed since. sessionId is that of an agent that works for this session,
   * where it is the one that asks.
   */
  answer(approval: Approval, answer: Answer, sessionId?: string): Promise<Answered>;
  answerQuestion(question: Question, reply: QuestionReply): Promise<QuestionReplied>;
  /** Ends this holder's interest. */
  release(): void;
}
