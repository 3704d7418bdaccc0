// A relay in this process: the real codec, real login proofs, slots, bindings and channels, and hooks for the ways in
// which a relay can lie or fail.
import { fromBase64, type Identity, toBase64, toBase64url } from "@scorel/protocol";
import {
  decodeControl,
  type EntryHello,
  encodeControl,
  encodeRecords,
  type Frame,
  Kind,
  MAX_CONTROL,
  type Peer,
  splitRecords,
  verifyHello,
} from "@scorel/protocol/wire";
import { Store } from "../src/api/store";
import { FakeSocket, type ServerEnd } from "./sockets";

const LIMITS = { maxControl: 65536, maxRecordPayload: 65535, maxMessage: 262144, maxChannels: 64 };

/** The relay's calls to a device. */
export interface Device {
  readonly identity: Identity;
  readonly label: string;
  relay: FakeRelay | null;
  online: boolean;
  /** Called when an entry joined the slot in which the device waits. */
  joined(slot: Slot): Promise<void>;
  takePair(slot: Slot, body: Uint8Array): Promise<void>;
  openChannel(entry: Entry, channel: number): void;
  takeRecord(entry: Entry, channel: number, payload: Uint8Array): Promise<void>;
  /** Called when a channel has ended. */
  drop(channel: number): void;
}

export interface Slot {
  slot: string;
  entry: Entry | null;
  device: Device | null;
  accepted: Set<string>;
}

export interface Entry {
  end: ServerEnd;
  nonce: Uint8Array<ArrayBuffer>;
  hello: EntryHello | null;
  channels: Map<number, Device>;
}

/** Shared by all relays: a device identifies its channels by number. */
let channels = 0;

export class FakeRelay {
  readonly authority: string;
  readonly url: string;
  readonly devices = new Map<string, Device>();
  readonly bindings = new Set<string>();
  readonly entries = new Set<Entry>();
  readonly slots = new Map<string, Slot>();
  /** Every control frame that an entry sent. */
  readonly seen = new Store<Frame[]>([]);
  /** Whether sockets are refused. */
  down = false;
  /** Whether it answers only logins, like a connection that died unnoticed. */
  silent = false;
  dialed = 0;
  /** Whether it drops every connection when a binding is stored, before anyone is notified. */
  cutAtBinding = false;
  /** The error that answers the hello instead of a welcome. */
  refuseLogin: (Frame & { type: "error" }) | null = null;
  /** The invite that a hello must contain; "" accepts every client. */
  invite = "";
  /** Changes the relay's report of a peer. */
  describe: (peer: Peer) => Peer = (peer) => peer;
  /** Devices that are connected to other relays only. */
  readonly absent = new Set<Device>();
  /** The answer to claims: a binding, a refusal, or none, like an older relay. */
  claims: "binds" | "refuses" | "ignores" = "binds";
  #slots = 0;

  /** Whether the device refuses every channel, because access has expired. */
  expired = false;

  constructor(authority = "relay.test", scheme = "https") {
    this.authority = authority;
    this.url = `${scheme}://${authority}`;
  }

  readonly makeSocket = (): WebSocket => {
    this.dialed++;
    const socket = new FakeSocket();
    if (this.down) {
      socket.close();
    } else {
      this.#accept(socket.server);
    }
    return socket as unknown as WebSocket;
  };

  add(device: Device): void {
    this.devices.set(device.identity.id, device);
    device.relay ??= this;
  }

  /** Connects the device to this relay only, or disconnects it. */
  setPresent(device: Device, present: boolean): void {
    if (present) {
      this.absent.delete(device);
    } else {
      this.absent.add(device);
    }
    this.#tellPresence(device, present);
  }

  setOnline(device: Device, online: boolean): void {
    device.online = online;
    this.#tellPresence(device, online);
  }

  #tellPresence(device: Device, online: boolean): void {
    for (const entry of this.entries) {
      if (this.#bound(entry, device)) {
        if (!online) {
          this.#closeChannels(entry, device, "peer_gone");
        }
        this.send(entry, { type: online ? "device_online" : "device_offline", deviceId: device.identity.id });
      }
    }
  }

  /** Makes the device refuse this browser, whose access has expired, or admit it again. */
  expire(device: Device, over: boolean): void {
    this.expired = over;
    for (const entry of this.entries) {
      if (over && this.#bound(entry, device)) {
        this.#closeChannels(entry, device, "expired");
      }
    }
  }

  /** Removes the binding, as when the host revokes the client. */
  revoke(device: Device): void {
    for (const entry of this.entries) {
      if (this.#bound(entry, device)) {
        this.bindings.delete(pairKey(entry.hello?.id, device.identity.id));
        this.#closeChannels(entry, device, "revoked");
        this.send(entry, { type: "binding_revoked", peerId: device.identity.id });
      }
    }
  }

  /** Cuts every connection. */
  cut(): void {
    for (const entry of [...this.entries]) {
      entry.end.close();
    }
  }

  /** Ends every connection with a goodbye. */
  goodbye(retryAfter: number): void {
    for (const entry of [...this.entries]) {
      this.send(entry, { type: "goodbye", reason: "shutdown", retryAfter });
      entry.end.close();
    }
  }

  send(entry: Entry, frame: Frame): void {
    entry.end.send(encodeControl(frame));
  }

  sendRecord(entry: Entry, channel: number, payload: Uint8Array<ArrayBuffer>): void {
    entry.end.send(encodeRecords([{ channel, payload }]));
  }

  newSlot(entry: Entry | null, device: Device | null): Slot {
    const slot: Slot = { slot: `7K3${this.#slots++ % 10}`, entry, device, accepted: new Set() };
    this.slots.set(slot.slot, slot);
    return slot;
  }

  /** Redeems a slot that an entry created, for a device. */
  redeem(device: Device, code: string): Slot {
    const slot = this.slots.get(code);
    if (!slot?.entry?.hello) {
      throw new Error("no such slot");
    }
    slot.device = device;
    this.send(slot.entry, { type: "pair_joined", slot: slot.slot, peer: this.#peerOf(device) });
    return slot;
  }

  accept(slot: Slot, who: string): void {
    slot.accepted.add(who);
    const { entry, device } = slot;
    if (slot.accepted.size === 2 && entry?.hello && device) {
      this.bindings.add(pairKey(entry.hello.id, device.identity.id));
      if (this.cutAtBinding) {
        this.cut();
        return;
      }
      this.send(entry, { type: "pair_complete", slot: slot.slot, peer: this.#peerOf(device) });
      this.slots.delete(slot.slot);
    }
  }

  burn(slot: Slot, kind: number): void {
    this.slots.delete(slot.slot);
    if (slot.entry) {
      this.send(slot.entry, { type: "pair_closed", slot: slot.slot, kind, message: "the slot is gone" });
    }
  }

  #accept(end: ServerEnd): void {
    const entry: Entry = { end, nonce: crypto.getRandomValues(new Uint8Array(32)), hello: null, channels: new Map() };
    let inbox: Promise<void> = Promise.resolve();
    end.onmessage = (data) => {
      inbox = inbox.then(() => this.#take(entry, data));
    };
    end.onclose = () => this.#leave(entry);
    this.entries.add(entry);
    this.send(entry, { type: "relay_hello", version: 1, nonce: toBase64(entry.nonce), limits: LIMITS });
  }

  #leave(entry: Entry): void {
    this.entries.delete(entry);
    for (const [channel, device] of entry.channels) {
      device.drop(channel);
    }
    for (const slot of [...this.slots.values()].filter((s) => s.entry === entry)) {
      this.slots.delete(slot.slot);
    }
  }

  async #take(entry: Entry, data: string | Uint8Array<ArrayBuffer>): Promise<void> {
    if (typeof data !== "string") {
      for (const { channel, payload } of splitRecords(data)) {
        await entry.channels.get(channel)?.takeRecord(entry, channel, payload);
      }
      return;
    }
    const frame = await decodeControl(data, MAX_CONTROL);
    if (!frame) {
      return;
    }
    this.seen.set([...this.seen.get(), frame]);
    if (frame.type === "entry_hello") {
      await this.#login(entry, frame);
    } else if (entry.hello && !this.silent) {
      await this.#serve(entry, frame);
    }
  }

  async #login(entry: Entry, hello: EntryHello): Promise<void> {
    if (hello.authority !== this.authority || !(await verifyHello(hello, entry.nonce))) {
      this.send(entry, { type: "error", kind: Kind.bad_proof, message: "The login does not verify." });
      entry.end.close();
      return;
    }
    if (this.refuseLogin) {
      this.send(entry, this.refuseLogin);
      entry.end.close();
      return;
    }
    if (this.invite !== "" && hello.invite !== this.invite) {
      this.send(entry, { type: "error", kind: Kind.invite_required, message: "By invite only." });
      entry.end.close();
      return;
    }
    entry.hello = hello;
    const peers = [...this.devices.values()].filter((d) => this.#bound(entry, d)).map((d) => this.#peerOf(d));
    this.send(entry, { type: "welcome", id: hello.id, serverTime: Date.now(), peers });
  }

  async #serve(entry: Entry, frame: Frame): Promise<void> {
    switch (frame.type) {
      case "create_pair_session": {
        const { slot } = this.newSlot(entry, null);
        const expiresAt = Date.now() + 600_000;
        return this.send(entry, { type: "pair_session", requestId: frame.requestId, slot, expiresAt });
      }
      case "redeem_pair":
        return this.#redeemed(entry, frame.requestId, frame.slot);
      case "pair_message":
        return this.slots.get(frame.slot)?.device?.takePair(this.slots.get(frame.slot) as Slot, fromBase64(frame.body));
      case "pair_accept": {
        const slot = this.slots.get(frame.slot);
        return slot && this.accept(slot, "entry");
      }
      case "pair_reject":
        this.slots.delete(frame.slot);
        return;
      case "open_channel":
        return this.#openChannel(entry, frame.requestId, frame.deviceId);
      case "close_channel":
        entry.channels.get(frame.channel)?.drop(frame.channel);
        entry.channels.delete(frame.channel);
        return;
      case "claim_binding":
        return this.#claimed(entry, frame.requestId, frame.deviceId);
      case "revoke_binding":
        this.bindings.delete(pairKey(entry.hello?.id, frame.peerId));
        return this.send(entry, { type: "binding_revoked", requestId: frame.requestId, peerId: frame.peerId });
    }
  }

  #redeemed(entry: Entry, requestId: string, name: string): void {
    const slot = this.slots.get(name);
    if (!slot?.device || slot.entry) {
      this.send(entry, { type: "error", requestId, kind: Kind.pair_unknown, message: "no such code" });
      return;
    }
    slot.entry = entry;
    this.send(entry, { type: "pair_joined", requestId, slot: name, peer: this.#peerOf(slot.device) });
    slot.device.joined(slot);
  }

  #claimed(entry: Entry, requestId: string, deviceId: string): void {
    const device = this.devices.get(deviceId);
    if (this.claims === "refuses") {
      this.send(entry, { type: "error", requestId, kind: Kind.rate_limited, message: "Too many claims." });
    } else if (this.claims === "binds" && device) {
      this.bindings.add(pairKey(entry.hello?.id, deviceId));
      this.send(entry, { type: "binding_claimed", requestId, peer: this.#peerOf(device) });
    }
  }

  #openChannel(entry: Entry, requestId: string, deviceId: string): void {
    const device = this.devices.get(deviceId);
    if (!device || !this.#bound(entry, device)) {
      this.send(entry, { type: "error", requestId, kind: Kind.unauthorized, message: "not bound" });
    } else if (!device.online || this.absent.has(device)) {
      this.send(entry, { type: "error", requestId, kind: Kind.device_offline, message: "offline" });
    } else {
      const channel = ++channels;
      entry.channels.set(channel, device);
      device.openChannel(entry, channel);
      this.send(entry, { type: "channel_opened", requestId, channel, peerId: deviceId });
      if (this.expired) {
        this.#closeChannels(entry, device, "expired");
      }
    }
  }

  #closeChannels(entry: Entry, device: Device, reason: "peer_gone" | "revoked" | "expired"): void {
    for (const [channel, owner] of [...entry.channels]) {
      if (owner === device) {
        entry.channels.delete(channel);
        device.drop(channel);
        this.send(entry, { type: "channel_closed", channel, reason });
      }
    }
  }

  #bound(entry: Entry, device: Device): boolean {
    return this.bindings.has(pairKey(entry.hello?.id, device.identity.id));
  }

  #peerOf(device: Device): Peer {
    const { id, signKey, sealKey } = device.identity;
    return this.describe({
      id,
      signKey: toBase64url(signKey),
      sealKey: toBase64url(sealKey),
      label: device.label,
      online: device.online && !this.absent.has(device),
    });
  }
}

function pairKey(client: string | undefined, device: string): string {
  return `${client} ${device}`;
}
