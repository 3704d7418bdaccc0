// The link: one identity, one connection to one relay, the devices behind it and
// a sealed channel to each that is wanted. Everything here runs on one thread and
// is owned by this object; it knows no page and no session.
import type { Bytes, Identity } from "@scorel/protocol";
import { type DataRecord, type Frame, Kind, type Reason, type Welcome } from "@scorel/protocol/wire";
import type { HostStatus } from "../api/contract";
import type { LinkDiagnosis } from "../api/diagnosis";
import { Asks, RelayError } from "./asks";
import { type ChannelLink, DeviceChannel } from "./channel";
import { Connection } from "./connection";
import { DeviceBook } from "./devices";
import { Dialer } from "./dialer";
import { LinkDoctor } from "./doctor";
import { type FromLink, UnreachableError } from "./messages";
import { PairingRun, type PairLink } from "./pairing";
import { loadPins } from "./pins";
import { parseRelayUrl, type RelayAddress } from "./relay-url";
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
  readonly #pairings = new Map<number, PairingRun>();
  #address: RelayAddress;
  /** Kept for this relay while the page lives: once admitted, nobody asks for it again. */
  #invite = "";
  #book: DeviceBook;
  #channels = new Map<string, DeviceChannel>();
  #byNumber = new Map<number, DeviceChannel>();
  #told = new Map<string, string>();
  #asks = new Asks();
  #session: (ChannelLink & PairLink) | null = null;
  readonly #doctors = new Map<number, LinkDoctor>();
  #probe: ReturnType<typeof setInterval>;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#address = parseRelayUrl(options.relayUrl);
    this.#book = new DeviceBook(options.db, this.#address.authority);
    this.#dialer = new Dialer(
      options.timing,
      () => this.#dial(),
      (state) => options.post({ t: "link", state }),
    );
    this.#probe = setInterval(() => this.#probeIfSilent(options.timing.probeAfter), options.timing.probeAfter / 2);
  }

  async start(): Promise<void> {
    await this.#book.load();
    this.#dialer.now();
  }

  /** Ends everything; the link is not used any more. */
  stop(): void {
    clearInterval(this.#probe);
    this.#dialer.stop();
    for (const doctor of this.#doctors.values()) {
      doctor.cancel();
    }
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
    // A phone that slept holds sockets that look alive.
    this.#probeIfSilent(this.#options.timing.probeWait / 2);
    this.#redialIfIdle();
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
    const run = new PairingRun(code, (state) => {
      this.#options.post({ t: "pairing", id, state });
      if (state.step === "done" || state.step === "failed") {
        this.#pairings.delete(id);
      }
    });
    if (run.over) {
      return;
    }
    this.#pairings.set(id, run);
    if (this.#session) {
      run.online(this.#session);
    }
  }

  cancelPairing(id: number): void {
    this.#pairings.get(id)?.cancel();
  }

  /** Looks at the whole way anew, on a connection of its own: what this link believes may be what is wrong. */
  async diagnose(id: number): Promise<void> {
    const { identity, label, timing, makeSocket, db, post } = this.#options;
    const address = this.#address;
    const pins = (await loadPins(db, address.authority)).filter((pin) => pin.state !== "pending");
    const tell = (state: LinkDiagnosis): void => post({ t: "diagnosis", id, state });
    const doctor = new LinkDoctor({ address, identity, label, timing, makeSocket, pins, tell });
    this.#doctors.set(id, doctor);
    await doctor.run();
    this.#doctors.delete(id);
  }

  cancelDiagnosis(id: number): void {
    this.#doctors.get(id)?.cancel();
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
    const session = this.#makeSession(connection, Date.now() - welcome.serverTime);
    this.#session = session;
    this.#dialer.welcomed();
    this.#changed();
    for (const run of [...this.#pairings.values()]) {
      run.online(session);
    }
  }

  #makeSession(connection: Connection, skew: number): ChannelLink & PairLink {
    const asks = this.#asks;
    const send = (frame: Frame): void => connection.sendFrame(frame);
    return {
      identity: this.#options.identity,
      book: this.#book,
      relay: this.#address.http,
      skew,
      send,
      ask: (make) => asks.ask(send, make),
      changed: () => this.#changed(),
      openChannel: async (deviceId) => {
        const opened = await asks.ask<Frame & { type: "channel_opened" }>(send, (requestId) => ({
          type: "open_channel",
          requestId,
          deviceId,
        }));
        return opened.channel;
      },
      bindChannel: (number, owner) => this.#byNumber.set(number, owner),
      closeChannel: (number, reason: Reason) => {
        this.#byNumber.delete(number);
        send({ type: "close_channel", channel: number, reason });
      },
      sendRecord: (channel, payload) => connection.sendRecord({ channel, payload } satisfies DataRecord),
    };
  }

  #disconnected(): void {
    this.#session = null;
    this.#byNumber = new Map();
    const asks = this.#asks;
    this.#asks = new Asks();
    asks.drop();
    for (const run of [...this.#pairings.values()]) {
      run.offline();
    }
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
      for (const run of [...this.#pairings.values()]) {
        run.onFrame(frame);
      }
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

  #probeIfSilent(silence: number): void {
    const connection = this.#dialer.open;
    if (!connection || Date.now() - connection.lastHeard < silence) {
      return;
    }
    const channel = [...this.#channels.values()].find((c) => c.isOpen);
    if (!channel) {
      return;
    }
    const before = connection.lastHeard;
    channel.request("get_host", {}, 0).catch(() => {});
    setTimeout(() => {
      if (connection === this.#dialer.open && connection.lastHeard === before) {
        connection.fail("The connection went silent.");
        this.#dialer.now();
      }
    }, this.#options.timing.probeWait);
  }

  // With no channel there is nobody to ask, and nothing to lose by dialling again;
  // but a code that is being shown would be lost with the connection.
  #redialIfIdle(): void {
    const connection = this.#dialer.open;
    const idle = this.#pairings.size === 0 && ![...this.#channels.values()].some((c) => c.isOpen);
    if (connection && idle && Date.now() - connection.lastHeard >= this.#options.timing.probeAfter) {
      connection.fail(null);
      this.#dialer.now();
    }
  }
}

const REVOKED = "This browser was removed on the machine. Pair again to use it.";
