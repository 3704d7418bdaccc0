// The interface between the pages and the rest: stores to read and calls to make. The link worker, the seal and the
// outbox implement it; no page uses a socket directly.

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

/** A value that changes, as useSyncExternalStore expects it. `get` returns the same object until the value changes. */
export interface Readable<T> {
  get(): T;
  subscribe(listener: () => void): () => void;
}

/** The connection to the chosen relay. It is also "online" while only another relay of the devices is connected. */
export type LinkState =
  /** This page cannot work here (no secure context, no Ed25519, no IndexedDB ...). */
  | { state: "unsupported"; reason: string; advice: string }
  | { state: "connecting"; attempt: number; retryAt: number | null; lastError: string | null }
  | { state: "online" }
  /** The relay rejected the login; retrying will not help. */
  | { state: "refused"; message: string; needsInvite?: boolean };

/** A prompt that no host has received. It is sent as soon as its host can be reached, whichever page is open. */
export interface WaitingPrompt {
  clientKey: string;
  deviceId: string;
  /** The project of its session, or of the session that begins with it. */
  projectId?: string;
  /** null while there is no session. */
  sessionId: string | null;
  text: string;
  /** The number of images in the prompt. */
  images: number;
  /** This browser could not store the prompt: closing the page loses it. */
  unstored?: boolean;
  /** Why the host rejected the prompt; null while it is unsent. */
  error: string | null;
  /** The kind of the error, if the host named one. */
  kind?: number;
}

export interface Device {
  id: string;
  label: string;
  online: boolean;
  /** The relay has not reported this device since the page was opened. */
  untold?: boolean;
  /** No relay that serves this device is connected; `online` is the last known value. */
  away?: boolean;
  /** The binding was revoked on the host or from another browser. Forgetting the device removes the row. */
  revoked?: boolean;
  /** A sentence that says why this device is not used although the relay lists it. */
  problem?: string;
}

/** One path to a device, as this browser sees it. */
export interface DevicePath {
  /** A relay, a listener on the device's local network, or a listener on its own machine. */
  kind: "relay" | "network" | "machine" | (string & {});
  url: string;
  state:
    | "used"
    | "ready"
    /** The device is not connected to this relay. */
    | "absent"
    | "connecting"
    /** The relay rejected the login. */
    | "refused"
    /** The device is connected there but does not answer this page: it may not allow pages of this origin. */
    | "origin"
    /** The relay does not know the pairing. */
    | "unbound"
    /** The relay reports that this browser was removed. */
    | "revoked"
    /** Browsers forbid a page loaded over https to connect to it. */
    | "insecure"
    /** Only programs on the device's own machine can reach it. */
    | "elsewhere";
  /** The last round-trip time of a message and its answer, in milliseconds. */
  rtt?: number;
  /** A sentence from the side that refused. */
  detail?: string;
}

export type PairingState =
  | { step: "requesting" }
  /** Started here: shows the code and the command to run on the host. */
  | { step: "showing"; code: string; command: string; expiresAt: number }
  /** Both sides found each other and are proving that they know the code. */
  | { step: "confirming"; label: string }
  /** The code is proven; the host waits for a person to accept. */
  | { step: "accepting"; label: string }
  | { step: "done"; deviceId: string; label: string }
  /** `kind` is the name of the error's section of the troubleshooting page. */
  | { step: "failed"; message: string; kind?: string };

export interface Pairing {
  readonly state: Readable<PairingState>;
  cancel(): void;
}

export interface Diagnosis {
  readonly state: Readable<DiagnosisState>;
  cancel(): void;
}

/** The parts of the page that a diagnosis uses. */
export interface PageParts {
  /** The origin of the page. */
  origin: string;
  fetch(path: string, signal: AbortSignal): Promise<Response>;
  /** Returns the address of the running script, as index.html names it. */
  script(): string | null;
}

export interface PageDiagnosisOptions {
  page: PageParts;
  relayUrl: string;
  /** The devices as known before the link has checked them. */
  devices: readonly Device[];
  /** Starts the link worker's half of the diagnosis. */
  begin: () => void;
  /** Called when the diagnosis ends, completed or not. */
  end: () => void;
}

export interface RunningDiagnosis extends Diagnosis {
  /** Runs the page's steps, then the link worker's. */
  run(): Promise<void>;
  /** Takes the link worker's results so far. */
  take(found: LinkDiagnosis): void;
}

/** A prompt that is not sent yet. */
export interface Draft {
  text: string;
  images: (PromptImage | ImageBlock)[];
}

/** The part of a draft that the browser refused to store: its images and files, or all of it. */
export type Unkept = "images" | "all";

/** What people have written and not sent, by the key of its message box. It is stored in this browser. */
export interface PageDrafts {
  /** Stores the draft of a message box, which survives the tab. The draft of a sent prompt is deleted after `stored`. */
  keep(key: string, text: string, images?: Draft["images"], stored?: Promise<unknown>): void;
  /** Returns the draft that this page has just kept under the key. */
  peek(key: string): Draft | undefined;
  /** Returns the stored draft; an empty one if there is none. */
  read(key: string): Promise<Draft>;
  /** Appends a text to a draft, on a line of its own. */
  append(key: string, text: string): Promise<void>;
  /** Moves a draft to another key, after any text there, and empties the old key. A box that shows it is notified. */
  carry(from: string, to: string): Promise<void>;
  /**
   * Calls the listener after each attempt to store the draft, with the part that is not on disk. Returns a function
   * that unsubscribes.
   */
  onTried(key: string, listener: (unkept: Unkept | null) => void): () => void;
  /** Calls the listener with drafts that another tab has stored under the key. Returns a function that unsubscribes. */
  onOther(key: string, listener: (draft: Draft) => void): () => void;
}

export interface Scorel {
  readonly link: Readable<LinkState>;
  readonly relayUrl: Readable<string>;
  /** Rejects with a sentence when the address is not a ws, wss, http or https URL. */
  setRelayUrl(url: string): Promise<void>;
  /** Logs in again with an invite from the relay's operator. The relay needs it once. */
  setInvite(invite: string): void;
  readonly me: Readable<{ id: string; label: string } | null>;
  /** Names this browser and logs in again under that name; "" restores the original name. */
  setLabel(label: string): void;
  /** The devices that this browser knows, with the relay's reports about them; null until either is known. */
  readonly devices: Readable<Device[] | null>;
  /** The paths to each device that a page has used, by device id. */
  readonly paths: Readable<Record<string, DevicePath[]>>;
  /** The prompts that only this browser has, for all devices, oldest first. */
  readonly waiting: Readable<WaitingPrompt[]>;
  /** Resends a waiting prompt that its host has rejected. */
  retryPrompt(clientKey: string): void;
  discardPrompt(clientKey: string): void;
  /** The drafts of this page; null until a part of it needs them. Their code is loaded with the first such part. */
  readonly drafts: { current: PageDrafts | null };
  startPairing(): Pairing;
  redeemPairing(code: string): Pairing;
  forgetDevice(deviceId: string): Promise<void>;
  host(deviceId: string): Host;
  /** Connects now instead of at the end of the back-off. */
  reconnectNow(): void;
  /** Checks the path to every paired device, step by step, without changing anything. */
  diagnose(make: new (options: PageDiagnosisOptions) => RunningDiagnosis): Diagnosis;
}

/** expired: this browser's access has ended until the host extends it. */
export type HostStatus = "connecting" | "open" | "offline" | "expired" | "revoked";

/** The settings of a new session. */
export interface NewSession {
  projectId: string;
  /** The agent that the session runs as; the default one if absent. */
  agent?: string;
  /** The name of a model in config.toml; the default if absent. */
  model?: string;
  /** The agent of another program that works in it; scorel's own if absent. */
  backend?: string;
  /** The permission mode; the default if absent. */
  mode?: Mode;
  /** Whether the session works in its own git worktree instead of the project's folder. */
  worktree?: boolean;
}

/** A session that begins with a prompt and that the host does not have yet. */
export interface StartingSession {
  clientKey: string;
  start: NewSession;
  text: string;
  images: (PromptImage | ImageBlock)[];
  /** "waiting": not sent yet. "failed": the host rejected it. */
  state: "waiting" | "failed";
  error?: string;
  /** The kind of the error, if the host named one. */
  kind?: number;
  /** This browser could not store the session: closing the page before it is sent loses it. */
  unstored?: boolean;
}

/**
 * The sessions of a host that are yet to begin. Their prompts are stored in IndexedDB, so that none is lost or sent
 * twice.
 */
export interface NewSessions {
  readonly state: Readable<StartingSession[]>;
  /** Creates a session with its first prompt as soon as the host can be reached. Returns the client key of both. */
  begin(start: NewSession, text: string, images?: StartingSession["images"]): string;
  /** Resolves with the session's id once the host has created it. */
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
   * Waits at most 15 s for the channel, then for the answer. Rejects with ApiError or OfflineError. With `approval`,
   * the request is the answer to that approval and is signed.
   */
  request<K extends keyof Requests>(
    name: K,
    fields: Requests[K]["request"],
    approval?: Approval,
  ): Promise<Requests[K]["response"]>;
  /** Returns this browser's stored answer to a request, or null without one. */
  recall<K extends keyof Requests>(
    name: K,
    fields: Requests[K]["request"],
  ): Promise<Saved<Requests[K]["response"]> | null>;
  /** Subscribes to events of the host that belong to no session. */
  onEvent(listener: (event: Event) => void): () => void;
  /** Returns the same object for an id for as long as it is held. */
  session(sessionId: string): SessionView;
  /** Returns the session if it is open, without holding it: it may be closed once all holders released it. */
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

/** The device cannot be reached now. The request had no effect that a retry would repeat. */
export class OfflineError extends Error {}

/** An image or file of a prompt that this browser sends. Its bytes are kept with the prompt until the host has them. */
export interface PromptImage {
  /** Lower-case hex; names it on the host. */
  sha256: string;
  blob: Blob;
  /** Set for files only. The host stores a file, of any type, where the agent can read it. */
  name?: string;
}

/** A prompt that is not in the log yet. */
export interface OutgoingPrompt {
  clientKey: string;
  text: string;
  /** The images and files of the prompt: bytes of this browser, or references to those on the host. */
  images?: (PromptImage | ImageBlock)[];
  /** The uploaded part of the images, from 0 to 1. */
  progress?: number;
  /** "device": only in this browser. "host": queued on the host. "failed": rejected by the host. */
  state: "device" | "host" | "failed";
  error?: string;
  /** The kind of the error, if the host named one. */
  kind?: number;
  /** This browser could not store the prompt: closing the page before it is sent loses it. */
  unstored?: boolean;
  /** Whether this browser sent it; false for a prompt of another entry. */
  mine: boolean;
  /** Whether the prompt is for the running turn instead of a later one. */
  steer?: boolean;
  createdAt: number;
}

/** The result of seeking an entry. */
export type Sought =
  /** The entry is among the loaded ones. */
  | "here"
  /** The entry is on another branch of the session. */
  | "elsewhere"
  /** The session has no such entry. */
  | "missing"
  /** The host could not be asked. */
  | "failed";

/** A range in the middle of the log, opened from a search result. */
export interface PlaceState {
  /** In file order. */
  entries: SessionEntry[];
  /** The last entry on the path to the session's leaf. */
  tip: string;
  earlier: "none" | "some" | "loading";
  /**
   * Whether the entries between this range and the end are missing or loading. Once they are loaded, the range joins
   * the end.
   */
  later: "some" | "loading";
}

export interface SessionState {
  status: "loading" | "live" | "reconnecting" | "offline" | "expired" | "revoked" | "missing";
  summary: SessionSummary | null;
  /** When the shown copy of this browser was current, in Unix milliseconds; null once the host has answered. */
  savedAt: number | null;
  /** The end of the log in file order, including entries of unknown types. */
  entries: SessionEntry[];
  /** Whether the host has earlier entries; "loading" while they are being fetched. */
  earlier: "none" | "some" | "loading";
  /** The range that is shown instead of the end. */
  place: PlaceState | null;
  live: Live;
  /** The progress that running operations reported while this page was open. */
  timelines: Timelines;
  outgoing: OutgoingPrompt[];
  /** The error that ended the last turn; null if it ended without one. */
  lastError: string | null;
}

/** A person's answer to an approval. */
export interface Answer {
  decision: Decision;
  /** Feedback to the agent; only with a denial. */
  feedback?: string;
}

/** The result of an answer. The first answer wins. */
export interface Answered {
  /** The decision that won. */
  decision: Decision;
  decidedBy: string;
  /** False when the approval had been answered already. */
  won: boolean;
  /** Why the call was released before a person answered. */
  released?: Release;
}

/** A person's reply to a question of the agent. */
export type QuestionReply = { answer: string } | { skip: true };

/** The result of a reply. The first reply wins. */
export interface QuestionReplied {
  outcome: QuestionOutcome;
  answer?: string;
  answeredBy: string;
  /** False when another reply won. */
  won: boolean;
}

export interface SessionView {
  readonly sessionId: string;
  readonly state: Readable<SessionState>;
  /**
   * Stores the text in IndexedDB until the host has it, so that it is neither lost nor sent twice. Resolves once this
   * browser has stored it.
   */
  send(text: string, steer?: boolean, images?: (PromptImage | ImageBlock)[]): Promise<void>;
  /** Replaces the host's queue with the named prompts of it, in this order. */
  editQueue(items: QueueItem[]): Promise<void>;
  retry(clientKey: string): void;
  discard(clientKey: string): void;
  cancel(): Promise<void>;
  /** Fetches some of the entries before the shown ones. */
  loadEarlier(): void;
  /** Fetches some of the entries after the range `place`. */
  loadLater(): void;
  /** Loads an entry and the entries around it. */
  seek(entryId: string): Promise<Sought>;
  /** Returns from the range `place` to the end. */
  leavePlace(): void;
  /**
   * Rejects when the shown approval has changed since. `sessionId` names the asking subagent's session, if one asks.
   */
  answer(approval: Approval, answer: Answer, sessionId?: string): Promise<Answered>;
  answerQuestion(question: Question, reply: QuestionReply): Promise<QuestionReplied>;
  /** Releases this holder's reference. */
  release(): void;
}
