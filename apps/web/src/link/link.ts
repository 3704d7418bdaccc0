// The link: one identity, one connection to one relay, the devices behind it and
// a sealed channel to each that is wanted. Everything here runs on one thread and
// is owned by this object; it knows no page and no session.
import type { Bytes, Identity } from "@scorel/protocol";
import { type Frame, Kind, type Welcome } from "@scorel/protocol/wire";
import type { HostStatus } from "../api/contract";
import { type FromLink, UnreachableError } from "../api/messages";
import { parseRelayUrl, type RelayAddress } from "../api/relay-url";
import { Asks, RelayError } from "./asks";
import { DeviceChannel } from "./channel";
import { Connection } from "./connection";
import { DeviceBook } from "./devices";
import { Dialer } from "./dialer";
import { Doctors } from "./doctors";
import { Pairings } from "./pairings";
import { Prober } from "./prober";
import { type LinkSession, makeSession } from "./session";
import type { Timing } from "./timing";

export interface LinkOptions {
  db: IDBDatabase;
  identity: Identity;
  relayUrl: string;
  label: string;
  timing: Timing;
  post: (message: FromLink) => void;
  makeSocket: (url: string, protocol: string) => WebSocket;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #dialer: Dialer;
  readonly #pairings: Pairings;
  #address: RelayAddress;
  /** Kept for this relay while the page lives: once admitted, nobody asks for it again. */
  #invite = "";
  #book: DeviceBook;
  #channels = new Map<string, DeviceChannel>();
  #byNumber = new Map<number, DeviceChannel>();
  #told = new Map<string, string>();
  #asks = new Asks();
  #session: LinkSession | null = null;
  readonly #doctors: Doctors;
  readonly #prober: Prober;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#address = parseRelayUrl(options.relayUrl);
    this.#book = new DeviceBook(options.db, this.#address.authority);
    this.#dialer = new Dialer(
      options.timing,
      () => this.#dial(),
      (state) => options.post({ t: "link", state }),
    );
    this.#pairings = new Pairings((id, state) => options.post({ t: "pairing", id, state }));
    this.#doctors = new Doctors(options.db);
    this.#prober = new Prober({
      dialer: this.#dialer,
      timing: options.timing,
      channels: () => this.#channels.values(),
      pairing: () => this.#pairings.any,
    });
  }

  async start(): Promise<void> {
    await this.#book.load();
    this.#dialer.now();
  }

  /** Ends everything; the link is not used any more. */
  stop(): void {
    this.#prober.stop();
    this.#dialer.stop();
    this.#doctors.stop();
  }

  setRelay(relayUrl: string): void {
    const address = parseRelayUrl(relayUrl);
    if (address.http === this.#address.http) {
      this.#dialer.now();
      return;
    }
    this.#address = address;
    this.#invite = "";
    this.#book = new DeviceBook(this.#options.db, address.authority);
    this.#options.post({ t: "devices", devices: null });
    this.#dialer.restart();
  }

  setInvite(invite: string): void {
    this.#invite = invite;
    this.#dialer.restart();
  }

  /** The page came back or the network did; `force` also tries again after a refusal. */
  wake(force: boolean): void {
    if (force) {
      this.#dialer.now();
    } else {
      this.#dialer.nudge();
    }
    this.#prober.wake();
  }

  use(deviceId: string): void {
    if (!this.#channels.has(deviceId)) {
      this.#channels.set(deviceId, this.#makeChannel(deviceId));
    }
    this.#told.delete(deviceId);
    this.#updateOne(deviceId);
  }

  async request(deviceId: string, name: string, fields: object): Promise<unknown> {
    this.use(deviceId);
    const status = this.#statusOf(deviceId);
    if (status === "revoked") {
      throw new UnreachableError(REVOKED);
    }
    const problem = this.#book.problem(deviceId);
    if (problem) {
      throw new UnreachableError(problem);
    }
    const { channelWait, offlineWait } = this.#options.timing;
    const channel = this.#channels.get(deviceId) as DeviceChannel;
    return channel.request(name, fields, status === "offline" ? offlineWait : channelWait);
  }

  pair(id: number, code: string | null): void {
    this.#pairings.start(id, code, this.#session);
  }

  cancelPairing(id: number): void {
    this.#pairings.cancel(id);
  }

  /** Looks at the whole way anew. */
  diagnose(id: number): Promise<void> {
    const { identity, label, timing, makeSocket, post } = this.#options;
    const patient = { address: this.#address, identity, label, timing, makeSocket };
    return this.#doctors.run(id, patient, (state) => post({ t: "diagnosis", id, state }));
  }

  cancelDiagnosis(id: number): void {
    this.#doctors.cancel(id);
  }

  /** Ends the binding with a device. One that is revoked already is only forgotten here. */
  async forget(deviceId: string): Promise<void> {
    const session = this.#session;
    const bound = !this.#book.isRevoked(deviceId);
    if (bound && !session) {
      throw new UnreachableError("The relay must be told, and it cannot be reached now. Try again when it is back.");
    }
    // First here, so that other tabs see that it was forgotten and not taken away.
    const restore = await this.#book.forget(deviceId);
    try {
      // A host may have shut this browser out while the relay still holds the binding.
      await session?.ask((requestId) => ({ type: "revoke_binding", requestId, peerId: deviceId }));
    } catch (err) {
      const gone = err instanceof RelayError && (err.kind === Kind.not_found || err.kind === Kind.unauthorized);
      if (bound && !gone) {
        await restore();
        throw err;
      }
    } finally {
      this.#changed();
    }
  }

  #dial(): Connection {
    const connection: Connection = new Connection({
      address: this.#address,
      identity: this.#options.identity,
      label: this.#options.label,
      invite: this.#invite,
      timing: this.#options.timing,
      makeSocket: this.#options.makeSocket,
      handler: {
        onWelcome: (welcome) => this.#welcome(connection, welcome),
        onFrame: (frame) => this.#takeFrame(frame),
        onRecord: (record) => this.#byNumber.get(record.channel)?.take(record.channel, record.payload as Bytes),
        onEnd: (end) => {
          this.#disconnected();
          this.#dialer.ended(end);
          this.#changed();
        },
      },
    });
    return connection;
  }

  async #welcome(connection: Connection, welcome: Welcome): Promise<void> {
    const book = this.#book;
    await book.welcome(welcome.peers);
    if (book !== this.#book) {
      return;
    }
    const session = makeSession({
      connection,
      identity: this.#options.identity,
      book,
      relay: this.#address.http,
      skew: Date.now() - welcome.serverTime,
      asks: this.#asks,
      channels: this.#byNumber,
      changed: () => this.#changed(),
    });
    this.#session = session;
    this.#dialer.welcomed();
    this.#changed();
    this.#pairings.online(session);
  }

  #disconnected(): void {
    this.#session = null;
    this.#byNumber = new Map();
    const asks = this.#asks;
    this.#asks = new Asks();
    asks.drop();
    this.#pairings.offline();
  }

  async #takeFrame(frame: Frame): Promise<void> {
    this.#asks.take(frame);
    switch (frame.type) {
      case "channel_closed": {
        const channel = this.#byNumber.get(frame.channel);
        this.#byNumber.delete(frame.channel);
        channel?.closed(frame.channel, frame.reason);
        return;
      }
      case "device_online":
      case "device_offline":
        await this.#book.setOnline(frame.deviceId, frame.type === "device_online");
        this.#changed();
        return;
      case "binding_revoked":
        await this.#book.revoke(frame.peerId);
        this.#changed();
        return;
    }
    if ("slot" in frame) {
      this.#pairings.take(frame);
    }
  }

  #makeChannel(deviceId: string): DeviceChannel {
    const { identity, timing, post } = this.#options;
    const channel: DeviceChannel = new DeviceChannel(deviceId, identity, timing, {
      onChange: () => this.#report(deviceId),
      onEvent: (event) => post({ t: "event", deviceId, event }),
      onRevoked: () => void this.#book.revoke(deviceId).then(() => this.#changed()),
      onOffline: () => void this.#book.setOnline(deviceId, false).then(() => this.#changed()),
      onOpen: () => void this.#learnLabel(channel),
    });
    return channel;
  }

  // The label that counts is the one that the host says inside the seal.
  async #learnLabel(channel: DeviceChannel): Promise<void> {
    try {
      const answer = (await channel.request("get_host", {}, 0)) as { host?: { label?: unknown } };
      await this.#book.rename(channel.deviceId, String(answer.host?.label ?? ""));
      this.#options.post({ t: "devices", devices: this.#book.list() });
    } catch {
      // It stays what it was; the next opening asks again.
    }
  }

  /** Something that decides over devices or channels has changed. */
  #changed(): void {
    this.#options.post({ t: "devices", devices: this.#book.list() });
    for (const deviceId of this.#channels.keys()) {
      this.#updateOne(deviceId);
    }
  }

  #updateOne(deviceId: string): void {
    const channel = this.#channels.get(deviceId);
    const pin = this.#book.usable(deviceId);
    const reachable = this.#session && pin && this.#book.isOnline(deviceId);
    channel?.update(reachable && this.#session && pin ? { link: this.#session, pin } : null);
    if (this.#statusOf(deviceId) === "revoked") {
      channel?.rejectWaiting(REVOKED);
    }
    this.#report(deviceId);
  }

  #statusOf(deviceId: string): HostStatus {
    if (this.#book.isRevoked(deviceId)) {
      return "revoked";
    }
    if (!this.#session) {
      return "connecting";
    }
    if (!this.#book.usable(deviceId) || !this.#book.isOnline(deviceId)) {
      return "offline";
    }
    return this.#channels.get(deviceId)?.isOpen ? "open" : "connecting";
  }

  #report(deviceId: string): void {
    const status = this.#statusOf(deviceId);
    const opening = this.#channels.get(deviceId)?.opening ?? 0;
    // Told once for every change: a page resyncs when the opening is a new one.
    const key = `${status} ${opening}`;
    if (this.#told.get(deviceId) !== key) {
      this.#told.set(deviceId, key);
      this.#options.post({ t: "host", deviceId, status, opening });
    }
  }
}

const REVOKED = "This browser was removed on the machine. Pair again to use it.";
