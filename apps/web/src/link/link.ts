// The link: one identity, one connection to one relay, the devices behind it and
// a sealed channel to each that is wanted. Everything here runs on one thread and
// is owned by this object; it knows no page and no session.

import type { Bytes, Identity } from "@scorel/protocol";
import { type Frame, Kind, type Welcome } from "@scorel/protocol/wire";
import type { HostStatus } from "../api/contract";
import { type FromLink, UnreachableError } from "../api/messages";
import { parseRelayUrl, type RelayAddress } from "../api/relay-url";
import type { Approval } from "../api/types";
import { t } from "../i18n/link";
import { Asks, RelayError } from "./asks";
import { Attendance } from "./attendance";
import { DeviceChannel } from "./channel";
import { Connection } from "./connection";
import { DeviceBook } from "./devices";
import { Dialer } from "./dialer";
import { Doctors } from "./doctors";
import { Pairings } from "./pairings";
import { Prober } from "./prober";
import { type LinkSession, makeSession } from "./session";
import { type Answering, signed } from "./signed";
import type { Timing } from "./timing";

export interface LinkOptions {
  db: IDBDatabase;
  identity: Identity;
  relayUrl: string;
  label: string;
  timing: Timing;
  /** With the size of a message in bytes, where it is known. */
  post: (message: FromLink, bytes?: number) => void;
  /** A device can be reached over a new channel, or not at all: `opening` is 0 then. */
  reachable?: (deviceId: string, opening: number) => void;
  /** This browser was removed on a device, or has removed it. */
  lost?: (deviceId: string) => void;
  makeSocket: (url: string, protocol: string) => WebSocket;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #dialer: Dialer;
  readonly #pairings: Pairings;
  #address: RelayAddress;
  #label: string;
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
  readonly #attendance: Attendance;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#address = parseRelayUrl(options.relayUrl);
    this.#label = options.label;
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
      ask: () => this.#askForASign(),
      pairing: () => this.#pairings.any,
    });
    this.#attendance = new Attendance(options.timing.awayAfter, this.#channels);
  }

  async start(): Promise<void> {
    this.#tellRelay();
    await this.#book.load();
    this.#options.post({ t: "devices", devices: this.#book.list() });
    this.#dialer.now();
  }

  /** Ends everything; the link is not used any more. */
  stop(): void {
    this.#prober.stop();
    this.#attendance.stop();
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
    this.#tellRelay();
    this.#invite = "";
    this.#book = new DeviceBook(this.#options.db, address.authority);
    this.#options.post({ t: "devices", devices: null });
    this.#dialer.restart();
  }

  #tellRelay(): void {
    this.#options.post({ t: "relay", relayUrl: this.#address.http });
  }

  /** Changes the name that relay and machines are told, which they learn at a login. */
  setLabel(label: string): void {
    if (label !== this.#label) {
      this.#label = label;
      this.#dialer.restart();
    }
    this.#options.post({ t: "me", id: this.#options.identity.id, label });
  }

  setInvite(invite: string): void {
    this.#invite = invite;
    this.#dialer.restart();
  }

  /** A page came back or the network did; `force` also tries again after a refusal. */
  wake(force: boolean): void {
    if (force) {
      this.#dialer.now();
    } else {
      this.#dialer.nudge();
    }
    this.#prober.wake();
  }

  /** Whether somebody can see a page, and the devices that such pages show. */
  setVisible(visible: boolean, devices: ReadonlySet<string>): void {
    this.#prober.setVisible(visible);
    this.#attendance.see(devices);
  }

  use(deviceId: string): void {
    if (!this.#channels.has(deviceId)) {
      this.#channels.set(deviceId, this.#makeChannel(deviceId));
    }
    this.#updateOne(deviceId);
  }

  isOpen(deviceId: string): boolean {
    return this.#statusOf(deviceId) === "open";
  }

  /** Sends a request. With an approval it is the answer to that, and is signed. */
  async request(deviceId: string, name: string, fields: object, approval?: Approval): Promise<unknown> {
    this.use(deviceId);
    const status = this.#statusOf(deviceId);
    if (status === "revoked") {
      throw new UnreachableError(t("link.link.revoked"));
    }
    const problem = this.#book.problem(deviceId);
    if (problem) {
      throw new UnreachableError(problem);
    }
    const { channelWait, offlineWait } = this.#options.timing;
    const channel = this.#channels.get(deviceId) as DeviceChannel;
    const { identity } = this.#options;
    const sent = approval ? await signed(identity, deviceId, fields as Answering, approval) : fields;
    return channel.request(name, sent, status === "offline" ? offlineWait : channelWait);
  }

  pair(id: number, code: string | null): void {
    this.#pairings.start(id, code, this.#session);
  }

  cancelPairing(id: number): void {
    this.#pairings.cancel(id);
  }

  /** Looks at the whole way anew. */
  diagnose(id: number): Promise<void> {
    const { identity, timing, makeSocket, post } = this.#options;
    const patient = { address: this.#address, identity, label: this.#label, timing, makeSocket };
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
      throw new UnreachableError(t("link.link.relayNotReachable"));
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
    this.#options.lost?.(deviceId);
  }

  #dial(): Connection {
    const connection: Connection = new Connection({
      address: this.#address,
      identity: this.#options.identity,
      label: this.#label,
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
    for (const deviceId of book.revokedIds()) {
      this.#options.lost?.(deviceId);
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

  /**
   * Sends something that is answered over the connection: a request to a host, or one to the relay for a channel to a
   * device, of which any answer will do. False when there is no device to name.
   */
  #askForASign(): boolean {
    const open = [...this.#channels.values()].find((channel) => channel.isOpen);
    if (open) {
      open.request("get_host", {}, 0).catch(() => {});
      return true;
    }
    const session = this.#session;
    const devices = this.#book.usableIds();
    // An offline device costs no host anything. An online one gets a channel, which is asked the next time.
    const device = devices.find((id) => !this.#book.isOnline(id)) ?? devices[0];
    if (!session || !device) {
      return false;
    }
    if (this.#book.isOnline(device)) {
      this.use(device);
    }
    session.openChannel(device).then(
      (number) => session.closeChannel(number, "closed"),
      () => {},
    );
    return true;
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
        await this.#revoked(frame.peerId);
        return;
    }
    if ("slot" in frame) {
      this.#pairings.take(frame);
    }
  }

  async #revoked(deviceId: string): Promise<void> {
    const before = this.#book.isRevoked(deviceId);
    await this.#book.revoke(deviceId);
    if (!before) {
      this.#options.lost?.(deviceId);
    }
    this.#changed();
  }

  #makeChannel(deviceId: string): DeviceChannel {
    const { identity, timing, post } = this.#options;
    const channel: DeviceChannel = new DeviceChannel(deviceId, identity, timing, {
      onChange: () => this.#report(deviceId),
      onEvent: (event, bytes) => post({ t: "event", deviceId, event }, bytes),
      onRevoked: () => void this.#revoked(deviceId),
      onOffline: () => void this.#book.setOnline(deviceId, false).then(() => this.#changed()),
      onOpen: () => {
        this.#attendance.opened(deviceId);
        void this.#learnLabel(channel);
      },
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
      channel?.rejectWaiting(t("link.link.revoked"));
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
      this.#options.reachable?.(deviceId, status === "open" ? opening : 0);
    }
  }
}
