// One relay: the connection to it, the devices that it serves, and requests to it.

import type { Bytes, Identity } from "@scorel/protocol";
import { type Frame, Kind, type Welcome } from "@scorel/protocol/wire";
import type { LinkState } from "../api/contract";
import type { RelayAddress } from "../api/relay-url";
import { Asks, RelayError } from "./asks";
import type { DeviceChannel } from "./channel";
import { Connection } from "./connection";
import { DeviceBook } from "./devices";
import { Dialer } from "./dialer";
import type { Told } from "./merged";
import type { Pin } from "./pins";
import { Prober } from "./prober";
import type { Run } from "./run";
import { type LinkSession, makeSession } from "./session";
import type { Timing } from "./timing";

export interface RelayOptions {
  db: IDBDatabase;
  identity: Identity;
  timing: Timing;
  makeSocket: (url: string, protocol: string) => WebSocket;
  /** Returns the name of this browser. */
  label: () => string;
  /** Returns the pin of a device at another relay. */
  elsewhere: (deviceId: string) => Pin | undefined;
  /** Called when the connection's state, or anything else that affects devices or channels, has changed. */
  changed: () => void;
  online: (relay: Relay, session: LinkSession) => void;
  offline: (relay: Relay) => void;
  /** Called with a frame of a pairing. */
  pairing: (relay: Relay, frame: Frame) => void;
  /** Reports whether a code is shown, which would be lost with the connection. */
  busy: (relay: Relay) => boolean;
  /** Called when the relay reports that this browser was removed on a device. */
  lost: (deviceId: string) => void;
  /** Returns an open channel over the connection, if there is one. */
  open: (session: LinkSession) => DeviceChannel | undefined;
}

/** An id that no device has: the relay answers a request for it without involving a host. */
const UNUSED_ID = `dev_${"a".repeat(32)}`;

export class Relay implements Told {
  readonly address: RelayAddress;
  readonly book: DeviceBook;
  readonly #options: RelayOptions;
  readonly #dialer: Dialer;
  readonly #prober: Prober;
  #connection: Connection | null = null;
  #channels = new Map<number, Run>();
  #asks = new Asks();
  #greetedAt = 0;
  #dialed = false;
  #loaded: Promise<void> | null = null;
  /** Kept while the page lives: once this browser is admitted, the relay asks for no invite. */
  #invite = "";
  /** The session of the connection while this browser is logged in. */
  session: LinkSession | null = null;
  state: LinkState = { state: "connecting", attempt: 0, retryAt: null, lastError: null };
  /** Whether it is still unknown if the relay can be reached. */
  undecided = true;
  /** Whether the relay has sent a hello since the page was opened, and so allows pages of this origin. */
  greeted = false;
  /** How long the relay took to answer the login, in milliseconds. */
  ping = Number.POSITIVE_INFINITY;

  constructor(address: RelayAddress, options: RelayOptions) {
    this.address = address;
    this.#options = options;
    this.book = new DeviceBook(options.db, address, options.elsewhere);
    this.#dialer = new Dialer(
      options.timing,
      () => this.#dial(),
      (state) => {
        this.state = state;
        options.changed();
      },
      address.loopback,
    );
    this.#prober = new Prober({
      dialer: this.#dialer,
      timing: options.timing,
      ask: () => this.#sendProbe(),
      pairing: () => options.busy(this),
    });
  }

  get connected(): boolean {
    return this.session !== null;
  }

  /** Reads the pins, the first time only. */
  async load(): Promise<void> {
    this.#loaded ??= this.book.load();
    await this.#loaded;
  }

  /** Connects, unless it already does. */
  dial(): void {
    if (!this.#dialed) {
      this.#dialed = true;
      this.#dialer.now();
    }
  }

  stop(): void {
    this.#prober.stop();
    this.#dialer.stop();
  }

  /** Logs in again. */
  restart(): void {
    this.#dialer.restart();
  }

  setInvite(invite: string): void {
    this.#invite = invite;
    this.#dialer.restart();
  }

  wake(force: boolean): void {
    if (force) {
      this.#dialer.now();
    } else {
      this.#dialer.nudge();
    }
    this.#prober.wake();
  }

  setVisible(visible: boolean): void {
    this.#prober.setVisible(visible);
  }

  /** Ends the binding with a device, unless it has ended already. */
  async unbind(deviceId: string): Promise<void> {
    try {
      await this.session?.ask((requestId) => ({ type: "revoke_binding", requestId, peerId: deviceId }));
    } catch (err) {
      // A host may have revoked this browser while the relay still has the binding.
      const gone = err instanceof RelayError && (err.kind === Kind.not_found || err.kind === Kind.unauthorized);
      if (!gone) {
        throw err;
      }
    }
  }

  async revoked(deviceId: string): Promise<void> {
    const before = this.book.pin(deviceId)?.state === "revoked";
    await this.book.revoke(deviceId);
    if (!before) {
      this.#options.lost(deviceId);
    }
    this.#options.changed();
  }

  async setOnline(deviceId: string, online: boolean): Promise<void> {
    await this.book.setOnline(deviceId, online);
    this.#options.changed();
  }

  #dial(): Connection {
    const { identity, timing, makeSocket, label } = this.#options;
    const connection: Connection = new Connection({
      address: this.address,
      identity,
      label: label(),
      invite: this.#invite,
      timing,
      makeSocket,
      handler: {
        onHello: () => {
          this.greeted = true;
          this.#greetedAt = performance.now();
        },
        onWelcome: (welcome) => this.#welcome(connection, welcome),
        onFrame: (frame) => this.#take(frame),
        onRecord: (record) => this.#channels.get(record.channel)?.take(record.payload as Bytes),
        onEnd: (end) => {
          this.#connection = null;
          this.undecided = false;
          this.#disconnected();
          this.#dialer.ended(end);
        },
      },
    });
    this.#connection = connection;
    return connection;
  }

  async #welcome(connection: Connection, welcome: Welcome): Promise<void> {
    const { identity, changed, lost, online } = this.#options;
    this.ping = performance.now() - this.#greetedAt;
    await this.book.welcome(welcome.peers);
    if (connection !== this.#connection) {
      return;
    }
    for (const deviceId of this.book.revokedIds()) {
      lost(deviceId);
    }
    const session = makeSession({
      connection,
      identity,
      book: this.book,
      relay: this.address.http,
      skew: Date.now() - welcome.serverTime,
      asks: this.#asks,
      channels: this.#channels,
      changed,
    });
    this.session = session;
    this.undecided = false;
    this.#dialer.welcomed();
    online(this, session);
  }

  #disconnected(): void {
    this.session = null;
    this.#channels = new Map();
    const asks = this.#asks;
    this.#asks = new Asks();
    asks.drop();
    this.#options.offline(this);
  }

  async #take(frame: Frame): Promise<void> {
    this.#asks.take(frame);
    switch (frame.type) {
      case "channel_closed": {
        const run = this.#channels.get(frame.channel);
        this.#channels.delete(frame.channel);
        run?.closed(frame.reason);
        return;
      }
      case "device_online":
      case "device_offline":
        await this.setOnline(frame.deviceId, frame.type === "device_online");
        return;
      case "binding_revoked":
        await this.revoked(frame.peerId);
        return;
    }
    if ("slot" in frame) {
      this.#options.pairing(this, frame);
    }
  }

  /** Sends a request that will be answered, to a host or to the relay. */
  #sendProbe(): boolean {
    const { session, book } = this;
    // Without a device, redialing loses nothing.
    if (!session || !book.pinned.some(({ id }) => book.usable(id))) {
      return false;
    }
    const channel = this.#options.open(session);
    const asked = channel ? channel.ask("get_host") : session.openChannel(UNUSED_ID);
    asked.catch(() => {});
    return true;
  }
}
