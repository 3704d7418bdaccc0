// The connection of a guest: to the relay that served the page, as the client of the link, and over it a sealed channel
// to the device of the link. It stores nothing, and shares nothing with the app.

import { type Identity, toBase64 } from "@scorel/protocol";
import type { GuestLink } from "@scorel/protocol/guest";
import { type Frame, Kind, type Peer, type Welcome } from "@scorel/protocol/wire";
import type { HostStatus, LinkState } from "../api/contract";
import type { WireEvent } from "../api/messages";
import type { RelayAddress } from "../api/relay-url";
import { Asks, RelayError } from "../link/asks";
import { DeviceChannel } from "../link/channel";
import { Connection } from "../link/connection";
import { Dialer } from "../link/dialer";
import type { ChannelLink, Run, Way } from "../link/run";
import type { Timing } from "../link/timing";
import type { GuestState } from "./messages";

export interface GuestOptions {
  link: GuestLink;
  identity: Identity;
  address: RelayAddress;
  label: string;
  timing: Timing;
  makeSocket: (url: string, protocol: string) => WebSocket;
  /** Called when the state of the session's host changes; a higher `opening` means a new channel. */
  tell: (state: GuestState, status: HostStatus, opening: number) => void;
  onEvent: (event: WireEvent) => void;
}

/** How long a relay may take to answer a claim, in milliseconds: an older one never does. */
const CLAIM_WAIT = 10_000;

export class GuestConnection {
  readonly #options: GuestOptions;
  readonly #dialer: Dialer;
  readonly #channel: DeviceChannel;
  #open = false;
  #connection: Connection | null = null;
  #asks = new Asks();
  #runs = new Map<number, Run>();
  #way: Way | null = null;
  #over = false;
  #ends: ReturnType<typeof setTimeout> | undefined;

  constructor(options: GuestOptions) {
    this.#options = options;
    const { link, identity, timing } = options;
    this.#channel = new DeviceChannel(link.device.id, identity, timing, {
      onChange: () => this.#changed(),
      onOpen: () => this.#changed(),
      onEvent: (event) => options.onEvent(event),
      onRevoked: () => this.#end({ is: Date.now() < link.expiresAt ? "revoked" : "expired" }),
      onOffline: () => this.#offer(false),
      onMeasured: () => {},
    });
    this.#dialer = new Dialer(
      timing,
      () => this.#dial(),
      (state) => this.#dialed(state),
      options.address.loopback,
    );
  }

  start(): void {
    this.#watchTime();
    this.#dialer.now();
  }

  /**
   * Probes the connection when the network may be back or the page is visible again: a dead connection does not report
   * itself.
   */
  wake(): void {
    if (this.#over) {
      return;
    }
    const connection = this.#connection;
    if (connection && this.#channel.isOpen && Date.now() - connection.lastHeard > this.#options.timing.probeAfter) {
      const { sessionId } = this.#options.link;
      const late = setTimeout(() => this.#dialer.restart(), this.#options.timing.probeWait);
      this.request("get_entries", { sessionId, limit: 1 })
        .catch(() => {})
        .finally(() => clearTimeout(late));
      return;
    }
    this.#channel.wake();
    this.#dialer.nudge();
  }

  request(name: string, fields: object): Promise<unknown> {
    return this.#channel.request(name, fields, this.#options.timing.channelWait);
  }

  stop(): void {
    this.#over = true;
    clearTimeout(this.#ends);
    this.#channel.update([]);
    this.#dialer.stop();
  }

  #end(state: GuestState): void {
    if (!this.#over) {
      this.#report(state.is === "expired" ? "expired" : "revoked", state);
      this.stop();
    }
  }

  /** Ends the connection when the link expires, as the host does too. Timers cannot wait longer than 24 days. */
  #watchTime(): void {
    const left = this.#options.link.expiresAt - Date.now();
    if (left <= 0) {
      this.#end({ is: "expired" });
    } else {
      this.#ends = setTimeout(() => this.#watchTime(), Math.min(left, 86_400_000));
    }
  }

  #changed(): void {
    if (this.#over) {
      return;
    }
    const { isOpen, expired } = this.#channel;
    if (expired) {
      this.#end({ is: "expired" });
    } else if (isOpen) {
      this.#report("open", { is: "open" });
    } else if (this.#open) {
      this.#report("connecting", { is: "connecting", error: null });
    }
  }

  #report(status: HostStatus, state: GuestState): void {
    if (!this.#over) {
      this.#open = status === "open";
      this.#options.tell(state, status, this.#channel.opening);
    }
  }

  #dialed(state: LinkState): void {
    if (state.state === "refused") {
      this.#end({ is: "refused", message: state.message });
    } else if (state.state === "connecting") {
      this.#report("connecting", { is: "connecting", error: state.lastError });
    }
  }

  #dial(): Connection {
    const { identity, timing, makeSocket, label, address } = this.#options;
    const connection: Connection = new Connection({
      ...{ address, identity, label, timing, makeSocket },
      handler: {
        onWelcome: (welcome) => this.#welcome(connection, welcome),
        onFrame: (frame) => this.#take(frame),
        onRecord: (record) => this.#runs.get(record.channel)?.take(record.payload as Uint8Array<ArrayBuffer>),
        onEnd: (end) => {
          this.#lost();
          this.#dialer.ended(end);
        },
      },
    });
    this.#connection = connection;
    return connection;
  }

  #lost(): void {
    this.#connection = null;
    this.#way = null;
    this.#runs = new Map();
    const asks = this.#asks;
    this.#asks = new Asks();
    asks.drop();
    this.#channel.update([]);
  }

  #welcome(connection: Connection, welcome: Welcome): void {
    const { id } = this.#options.link.device;
    this.#dialer.welcomed();
    this.#way = this.#wayOver(connection);
    const known = welcome.peers.find((peer) => peer.id === id);
    if (known) {
      this.#offer(known.online);
    } else {
      // Not awaited: the answer comes over this connection, whose frames wait for this one.
      void this.#claim(connection);
    }
  }

  async #claim(connection: Connection): Promise<void> {
    const { device, signedAt, proof } = this.#options.link;
    const late = setTimeout(() => this.#end({ is: "oldRelay" }), CLAIM_WAIT);
    try {
      const claimed = await this.#asks.ask<Frame & { type: "binding_claimed"; peer: Peer }>(
        (frame) => connection.sendFrame(frame),
        (requestId) => ({ type: "claim_binding", requestId, deviceId: device.id, signedAt, proof: toBase64(proof) }),
      );
      this.#offer(claimed.peer.online);
    } catch (err) {
      this.#unclaimed(connection, err);
    } finally {
      clearTimeout(late);
    }
  }

  #unclaimed(connection: Connection, err: unknown): void {
    if (!(err instanceof RelayError)) {
      return; // the connection is closed, and the next one claims again
    }
    const { kind, message } = err;
    if (kind === Kind.unavailable || kind === Kind.rate_limited) {
      connection.fail(message);
    } else if (kind === Kind.stale_proof) {
      this.#end({ is: Date.now() < this.#options.link.expiresAt ? "revoked" : "expired" });
    } else {
      this.#end(kind === Kind.not_found ? { is: "unknown" } : { is: "refused", message });
    }
  }

  #wayOver(connection: Connection): Way {
    const { device } = this.#options.link;
    const asks = this.#asks;
    const runs = this.#runs;
    const send = (frame: Frame) => connection.sendFrame(frame);
    const link: ChannelLink = {
      openChannel: async (deviceId) => {
        const make = (requestId: string): Frame => ({ type: "open_channel", requestId, deviceId });
        return (await asks.ask<Frame & { type: "channel_opened" }>(send, make)).channel;
      },
      bindChannel: (number, owner) => runs.set(number, owner),
      closeChannel: (number, reason) => {
        runs.delete(number);
        send({ type: "close_channel", channel: number, reason });
      },
      sendRecord: (channel, payload) => connection.sendRecord({ channel, payload }),
    };
    const { authority } = this.#options.address;
    const pinned = { ...device, label: "", pairedAt: 0, state: "bound" as const, authority };
    return { link, pin: pinned };
  }

  /** Reports whether the host can be reached over the connection. */
  #offer(online: boolean): void {
    if (this.#over || !this.#way) {
      return;
    }
    if (!online) {
      this.#report("offline", { is: "offline" });
    } else if (!this.#channel.isOpen) {
      this.#report("connecting", { is: "connecting", error: null });
    }
    this.#channel.update(online ? [this.#way] : []);
  }

  #take(frame: Frame): void {
    this.#asks.take(frame);
    const { id } = this.#options.link.device;
    switch (frame.type) {
      case "channel_closed": {
        const run = this.#runs.get(frame.channel);
        this.#runs.delete(frame.channel);
        run?.closed(frame.reason);
        return;
      }
      case "device_online":
      case "device_offline":
        if (frame.deviceId === id) {
          this.#offer(frame.type === "device_online");
        }
        return;
      case "binding_revoked":
        if (frame.peerId === id) {
          this.#end({ is: Date.now() < this.#options.link.expiresAt ? "revoked" : "expired" });
        }
    }
  }
}
