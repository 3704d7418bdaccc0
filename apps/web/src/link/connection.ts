// One WebSocket to a relay: login, then frames and records until it ends. It never dials twice; the dialer makes a new
// connection.

import { type Bytes, fromBase64, type Identity } from "@scorel/protocol";
import {
  type DataRecord,
  decodeControl,
  encodeControl,
  type Frame,
  Kind,
  type Limits,
  MAX_CONTROL,
  MAX_MESSAGE,
  MAX_PRE_LOGIN,
  type RelayHello,
  SUBPROTOCOL,
  signHello,
  splitRecords,
  VERSION,
  type Welcome,
  WireError,
} from "@scorel/protocol/wire";
import type { RelayAddress } from "../api/relay-url";
import { t } from "../i18n/link";
import { Outbound } from "./outbound";
import type { Timing } from "./timing";

/** Why a connection ended. */
export interface ConnectionEnd {
  /** A sentence for people, or null for a normal end. */
  message: string | null;
  /** The relay rejected the login permanently. */
  refused: boolean;
  /** The relay would accept this browser with an invite. */
  needsInvite: boolean;
  /** The relay's requested delay before reconnecting, in milliseconds; 0 means none was requested. */
  retryAfter: number;
  /** The kind of the relay's last error, if any; bad_frame for data that this client cannot decode. */
  kind?: Kind;
}

export interface ConnectionHandler {
  /** Called with the relay's hello, when the login begins. */
  onHello?(hello: RelayHello): void;
  onWelcome(welcome: Welcome): void | Promise<void>;
  onFrame(frame: Frame): void | Promise<void>;
  onRecord(record: DataRecord): void;
  onEnd(end: ConnectionEnd): void;
}

export interface ConnectionOptions {
  address: RelayAddress;
  identity: Identity;
  label: string;
  /** An invite, for a relay that requires one of new clients. */
  invite?: string;
  timing: Timing;
  handler: ConnectionHandler;
  makeSocket: (url: string, protocol: string) => WebSocket;
}

type Phase = "hello" | "welcome" | "open" | "ended";

// Errors after which retrying the login cannot succeed.
const FINAL: readonly Kind[] = [
  Kind.bad_version,
  Kind.bad_proof,
  Kind.wrong_authority,
  Kind.unauthorized,
  Kind.not_allowed,
  Kind.invite_required,
  Kind.not_admitted,
];

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #socket: WebSocket;
  readonly #outbound: Outbound;
  readonly #loginTimer: ReturnType<typeof setTimeout>;
  #phase: Phase = "hello";
  #limits: Limits | null = null;
  #inbox: Promise<void> = Promise.resolve();
  #end: ConnectionEnd = { message: null, refused: false, needsInvite: false, retryAfter: 0 };
  /** When the relay last sent anything. */
  lastHeard = Date.now();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#socket = options.makeSocket(options.address.socket, SUBPROTOCOL);
    this.#socket.binaryType = "arraybuffer";
    this.#outbound = new Outbound(this.#socket, () => Math.min(this.#limits?.maxMessage ?? MAX_MESSAGE, MAX_MESSAGE));
    this.#loginTimer = setTimeout(
      () => this.fail(t("link.connection.noAnswer", { address: options.address.http })),
      options.timing.login,
    );
    this.#socket.onmessage = (event) => this.#receive(event.data);
    this.#socket.onclose = () => {
      // Frames received before the close are handled before onEnd is called.
      this.#inbox = this.#inbox.then(() => this.#finish());
    };
  }

  sendFrame(frame: Frame): void {
    this.#push(encodeControl(frame));
  }

  sendRecord(record: DataRecord): void {
    this.#push(record);
  }

  /** Ends the connection and calls onEnd once. */
  fail(message: string | null, refused = false): void {
    this.#end = { ...this.#end, message: this.#end.message ?? message, refused: this.#end.refused || refused };
    this.#finish();
  }

  #push(item: string | DataRecord): void {
    if (this.#phase !== "ended" && !this.#outbound.push(item)) {
      this.fail(t("link.connection.outboundFull"));
    }
  }

  #finish(): void {
    if (this.#phase === "ended") {
      return;
    }
    const before = this.#phase;
    this.#phase = "ended";
    clearTimeout(this.#loginTimer);
    this.#outbound.close();
    this.#socket.onmessage = null;
    this.#socket.onclose = null;
    this.#socket.close();
    const address = this.#options.address.http;
    const unreached = before === "hello" ? t("link.connection.unreachable", { address }) : null;
    this.#options.handler.onEnd({ ...this.#end, message: this.#end.message ?? unreached });
  }

  // Decoding a frame is asynchronous, so everything is queued: a record must not overtake the channel_opened that
  // announces its channel.
  #receive(data: unknown): void {
    this.lastHeard = Date.now();
    this.#inbox = this.#inbox
      .then(() => (typeof data === "string" ? this.#takeText(data) : this.#takeBinary(data)))
      .catch((err: unknown) => {
        this.#end = { ...this.#end, kind: Kind.bad_frame };
        this.fail(sentenceOf(err));
      });
  }

  async #takeText(text: string): Promise<void> {
    if (this.#phase === "ended") {
      return;
    }
    const frame = await decodeControl(text, this.#phase === "open" ? MAX_CONTROL : MAX_PRE_LOGIN_WELCOME);
    if (!frame) {
      return;
    }
    switch (frame.type) {
      case "relay_hello":
        return this.#answerHello(frame);
      case "welcome":
        return this.#takeWelcome(frame);
      case "goodbye":
        this.#end = { ...this.#end, retryAfter: frame.retryAfter ?? 0 };
        this.#finish();
        return;
      case "error":
        if (!frame.requestId) {
          this.#end = {
            ...this.#end,
            message: frame.message,
            kind: frame.kind,
            refused: FINAL.includes(frame.kind) && (this.#phase !== "open" || frame.kind === Kind.not_admitted),
            needsInvite: frame.kind === Kind.invite_required,
          };
          return;
        }
    }
    if (this.#phase === "open") {
      await this.#options.handler.onFrame(frame);
    }
  }

  async #answerHello(hello: RelayHello): Promise<void> {
    if (this.#phase !== "hello") {
      throw new WireError(Kind.bad_frame, "a second hello");
    }
    if (hello.version < VERSION) {
      this.fail(t("link.connection.oldRelay"), true);
      return;
    }
    this.#limits = hello.limits;
    this.#phase = "welcome";
    this.#options.handler.onHello?.(hello);
    const { address, label, invite, identity } = this.#options;
    const dialed = { authority: address.authority, label, ...(invite ? { invite } : {}) };
    this.sendFrame(await signHello(identity, dialed, fromBase64(hello.nonce)));
  }

  async #takeWelcome(welcome: Welcome): Promise<void> {
    if (this.#phase !== "welcome" || welcome.id !== this.#options.identity.id) {
      throw new WireError(Kind.bad_frame, "a welcome that is not ours");
    }
    clearTimeout(this.#loginTimer);
    this.#phase = "open";
    await this.#options.handler.onWelcome(welcome);
  }

  #takeBinary(data: unknown): void {
    if (this.#phase !== "open" || !(data instanceof ArrayBuffer)) {
      if (this.#phase === "ended") {
        return;
      }
      throw new WireError(Kind.bad_frame, "data before the login");
    }
    for (const record of splitRecords(new Uint8Array(data) as Bytes)) {
      this.#options.handler.onRecord(record);
    }
  }
}

// The welcome itself lists every binding, so it may be as large as any frame.
const MAX_PRE_LOGIN_WELCOME = Math.max(MAX_PRE_LOGIN, MAX_CONTROL);

function sentenceOf(err: unknown): string {
  return err instanceof WireError
    ? t("link.connection.notUnderstood", { reason: err.message })
    : t("link.connection.failed", { reason: err instanceof Error ? err.message : String(err) });
}
