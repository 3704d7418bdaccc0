// A device in this process: real keys, the responder's end of the seal and of the pairing ceremony, and an API over
// sessions in memory.
import {
  type Code,
  fromBase64url,
  generateKeys,
  Handshake,
  type Identity,
  newCode,
  PairMachine,
  parseCode,
  toBase64,
  utf8,
} from "@scorel/protocol";
import { Kind } from "@scorel/protocol/wire";
import type { WireEvent } from "../src/api/messages";
import type { Anchors, Requests } from "../src/api/types";
import { Sealed } from "../src/link/sealed";
import { ModelSession } from "./model-session";
import type { Device, Entry, FakeRelay, Slot } from "./relay";

interface Request {
  type: string;
  requestId: string;
  sessionId: string;
  clientKey: string;
  text: string;
}

interface Line {
  handshake: Handshake;
  sealed: Sealed | null;
  clientId: string;
  subscriptions: Map<string, (event: WireEvent) => void>;
}

export class FakeDevice implements Device {
  readonly identity: Identity;
  readonly label: string;
  relay: FakeRelay | null = null;
  online = true;
  readonly sessions = new Map<string, ModelSession>();
  /** The names of all received requests. */
  readonly requests: string[] = [];
  readonly prompts: { clientKey: string; text: string }[] = [];
  /** Its report of the relays that it is connected to. */
  paths: Requests["list_paths"]["response"]["paths"] = [];
  /** Whether it supports the request of a leaving client, and how many have left. */
  leaves = false;
  left = 0;
  /** Answers instead of the API, when it returns a value. */
  intercept: (request: Request) => object | null | undefined = () => undefined;
  #machine: Promise<PairMachine> | null = null;
  #code: Code | null = null;
  #creator = false;
  /** By channel: a FakeRelay uses each number once. */
  #lines = new Map<number, Line>();

  private constructor(identity: Identity, label: string) {
    this.identity = identity;
    this.label = label;
  }

  static async create(label = "workshop"): Promise<FakeDevice> {
    return new FakeDevice(await generateKeys("dev"), label);
  }

  session(id: string): ModelSession {
    const session = this.sessions.get(id) ?? new ModelSession(id);
    this.sessions.set(id, session);
    return session;
  }

  /** `scorel pair CODE`. */
  async redeem(text: string): Promise<void> {
    this.#code = parseCode(text);
    this.#creator = false;
    const slot = this.#relay().redeem(this, this.#code.slot);
    await this.joined(slot);
  }

  /** `scorel pair`: returns the code to show. */
  showCode(): string {
    this.#code = newCode(this.#relay().newSlot(null, this).slot);
    this.#creator = true;
    return this.#code.reveal();
  }

  async joined(slot: Slot): Promise<void> {
    const hello = slot.entry?.hello;
    if (!hello || !this.#code) {
      throw new Error("nobody to pair with");
    }
    this.#machine = PairMachine.create({
      code: this.#code,
      self: this.identity,
      peer: { id: hello.id, signKey: fromBase64url(hello.signKey), sealKey: fromBase64url(hello.sealKey) },
      creator: this.#creator,
    });
    this.#say(slot, (await this.#machine).start());
  }

  async takePair(slot: Slot, body: Uint8Array): Promise<void> {
    const machine = await this.#machine;
    try {
      const reply = await machine?.handle(body);
      if (reply) {
        this.#say(slot, reply);
      }
      if (machine?.done) {
        this.#relay().accept(slot, "device");
      }
    } catch {
      this.#relay().burn(slot, Kind.bad_proof);
    }
  }

  openChannel(entry: Entry, channel: number): void {
    const hello = entry.hello;
    if (!hello) {
      throw new Error("an entry without a login");
    }
    const peer = { id: hello.id, sealKey: fromBase64url(hello.sealKey) };
    this.#lines.set(channel, {
      handshake: new Handshake(this.identity, peer),
      sealed: null,
      clientId: hello.id,
      subscriptions: new Map(),
    });
  }

  drop(channel: number): void {
    const line = this.#lines.get(channel);
    this.#lines.delete(channel);
    line?.sealed?.end();
    for (const [sessionId, subscriber] of line?.subscriptions ?? []) {
      this.sessions.get(sessionId)?.subscribers.delete(subscriber);
    }
  }

  async takeRecord(entry: Entry, channel: number, payload: Uint8Array): Promise<void> {
    const line = this.#lines.get(channel);
    if (!line) {
      return;
    }
    if (!line.sealed) {
      const answered = await line.handshake.answer(payload);
      this.#relay().sendRecord(entry, channel, answered.reply);
      line.sealed = new Sealed(answered.channel, (record) => this.#relay().sendRecord(entry, channel, record));
      return;
    }
    const message = await line.sealed.take(payload);
    if (message) {
      const request = JSON.parse(new TextDecoder().decode(message)) as Request;
      this.requests.push(request.type);
      this.#answer(line, request);
    }
  }

  /** Sends an event to every entry with a channel. */
  broadcast(event: object): void {
    for (const line of this.#lines.values()) {
      this.#write(line, { type: "event", event });
    }
  }

  #answer(line: Line, request: Request): void {
    const { requestId } = request;
    const write = (message: object): void => this.#write(line, message);
    const special = this.intercept(request);
    if (special !== undefined) {
      if (special !== null) {
        write({ requestId, ...special });
      }
      return;
    }
    const result = this.#handle(request, line, (event) => write({ type: "event", event }));
    if (result) {
      write({ type: "response", requestId, result });
    } else {
      write({ type: "error", requestId, kind: 4, message: "there is no such session" });
    }
  }

  #handle(request: Request & Partial<Anchors>, line: Line, subscriber: (event: WireEvent) => void): object | null {
    const session = this.sessions.get(request.sessionId);
    switch (request.type) {
      case "get_host":
        return { host: { deviceId: this.identity.id, label: this.label } };
      case "list_paths":
        return { paths: this.paths, proof: { signedAt: Date.now(), signature: toBase64(new Uint8Array(64)) } };
      case "leave":
        if (!this.leaves) {
          return null;
        }
        this.left += 1;
        return {};
      case "list_projects":
        return { projects: [] };
      case "resync_events": {
        const answer = session?.resync(request as unknown as Anchors);
        const old = line.subscriptions.get(request.sessionId);
        if (session && old) {
          session.subscribers.delete(old);
        }
        session?.subscribers.add(subscriber);
        line.subscriptions.set(request.sessionId, subscriber);
        return answer ?? null;
      }
      case "get_entries": {
        const fields = request as unknown as Requests["get_entries"]["request"];
        const inMiddle = fields.around !== undefined || fields.after !== undefined;
        return (inMiddle ? session?.place(fields) : session?.entries(fields.before)) ?? null;
      }
      case "send_prompt":
        return session ? this.#prompt(session, request, line.clientId) : null;
      default:
        return {};
    }
  }

  #prompt(session: ModelSession, { clientKey, text }: Request, clientId: string): object {
    if (!session.log.some((e) => e.type === "message" && e.clientKey === clientKey)) {
      this.prompts.push({ clientKey, text });
      session.userMessage(text, clientKey, clientId);
    }
    return { state: "taken" };
  }

  #write(line: Line, message: object): void {
    void line.sealed?.send(utf8(JSON.stringify(message)));
  }

  #say(slot: Slot, body: Uint8Array): void {
    if (slot.entry) {
      this.#relay().send(slot.entry, { type: "pair_message", slot: slot.slot, body: toBase64(body) });
    }
  }

  #relay(): FakeRelay {
    if (!this.relay) {
      throw new Error("the device is on no relay");
    }
    return this.relay;
  }
}
