// The link: one identity, a connection to each relay of its devices, and a sealed channel to each device in use. It
// runs on one thread, owns all of this, and knows neither pages nor sessions.

import type { Identity } from "@scorel/protocol";
import type { HostStatus } from "../api/contract";
import { type FromLink, UnreachableError } from "../api/messages";
import { parseRelayUrl } from "../api/relay-url";
import type { Approval } from "../api/types";
import { t } from "../i18n/link";
import { Attendance } from "./attendance";
import { DeviceChannel } from "./channel";
import { Doctors } from "./doctors";
import { LinkPaths } from "./link-paths";
import { isRevoked, mergeDevices, problemOf } from "./merged";
import { Pairings } from "./pairings";
import { betterWay, waysTo } from "./paths";
import type { Relay } from "./relay";
import { type RelayHandler, Relays } from "./relays";
import type { Way } from "./run";
import { type Answering, signed } from "./signed";
import type { Timing } from "./timing";

export interface LinkOptions {
  db: IDBDatabase;
  identity: Identity;
  relayUrl: string;
  label: string;
  timing: Timing;
  /** `bytes` is the size of the message, if known. */
  post: (message: FromLink, bytes?: number) => void;
  /** Called when a device can be reached over a new channel, or when it cannot be reached: `opening` is 0 then. */
  reachable?: (deviceId: string, opening: number) => void;
  /** Called when a relay reports that this browser was removed on a device. */
  lost?: (deviceId: string) => void;
  /** Called when this browser has removed a device. */
  forgotten?: (deviceId: string) => void;
  makeSocket: (url: string, protocol: string) => WebSocket;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #pairings: Pairings;
  readonly #doctors: Doctors;
  readonly #attendance: Attendance;
  readonly #relays: Relays;
  /** The relay of the running pairing. */
  #pairingAt: Relay;
  #label: string;
  #channels = new Map<string, DeviceChannel>();
  #postedStates = new Map<string, string>();
  readonly #paths: LinkPaths;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#label = options.label;
    this.#pairings = new Pairings((id, state) => options.post({ t: "pairing", id, state }));
    this.#doctors = new Doctors(options.db);
    this.#attendance = new Attendance(options.timing.awayAfter, this.#channels);
    const { db, identity, timing, makeSocket } = options;
    const parts = { db, identity, timing, makeSocket, ...this.#relayHandler() };
    this.#relays = new Relays(parts, parseRelayUrl(options.relayUrl), () => this.#paths.addresses);
    this.#paths = new LinkPaths({
      relays: this.#relays,
      channels: this.#channels,
      post: options.post,
      changed: () => this.#changed(),
    });
    this.#pairingAt = this.#home;
  }

  async start(): Promise<void> {
    this.#postRelay();
    await this.#relays.know();
  }

  /** Ends everything; the link cannot be used afterwards. */
  stop(): void {
    this.#attendance.stop();
    this.#doctors.stop();
    this.#relays.stop();
  }

  setRelay(relayUrl: string): void {
    const address = parseRelayUrl(relayUrl);
    if (address.http === this.#home.address.http) {
      this.#home.wake(true);
      return;
    }
    this.#relays.choose(address);
    this.#postRelay();
    // A code that is shown was created at the other relay.
    this.#pairings.offline();
    this.#pairingAt = this.#home;
    if (this.#home.session) {
      this.#pairings.online(this.#home.session);
    }
    void this.#relays.know();
  }

  #postRelay(): void {
    this.#options.post({ t: "relay", relayUrl: this.#home.address.http });
  }

  /** Changes the name of this browser. Relays and hosts learn it at the next login. */
  setLabel(label: string): void {
    if (label !== this.#label) {
      this.#label = label;
      for (const relay of this.#all) {
        relay.restart();
      }
    }
    this.#options.post({ t: "me", id: this.#options.identity.id, label });
  }

  setInvite(invite: string): void {
    this.#home.setInvite(invite);
  }

  /** Reconnects after a page or the network came back; `force` also retries after a refusal. */
  wake(force: boolean): void {
    for (const relay of this.#all) {
      relay.wake(force);
    }
    for (const channel of this.#channels.values()) {
      channel.wake();
    }
  }

  /** Sets whether a page is visible, and the devices that visible pages show. */
  setVisible(visible: boolean, devices: ReadonlySet<string>): void {
    this.#relays.setVisible(visible);
    this.#attendance.see(devices);
    for (const deviceId of devices) {
      this.#tryBetter(deviceId);
    }
  }

  use(deviceId: string): void {
    if (!this.#channels.has(deviceId)) {
      this.#channels.set(deviceId, this.#makeChannel(deviceId));
      void this.#paths.load();
    }
    this.#updateOne(deviceId);
  }

  isOpen(deviceId: string): boolean {
    return this.#statusOf(deviceId) === "open";
  }

  /** Sends a request. With `approval`, the request is the answer to it and is signed. */
  async request(deviceId: string, name: string, fields: object, approval?: Approval): Promise<unknown> {
    this.use(deviceId);
    const status = this.#statusOf(deviceId);
    if (status === "revoked") {
      throw new UnreachableError(t("link.link.revoked"));
    }
    const problem = problemOf(this.#all, deviceId);
    if (problem) {
      throw new UnreachableError(problem);
    }
    const { channelWait, offlineWait } = this.#options.timing;
    const channel = this.#channels.get(deviceId) as DeviceChannel;
    const { identity } = this.#options;
    const sent = approval ? await signed(identity, deviceId, fields as Answering, approval) : fields;
    return channel.request(name, sent, status === "connecting" ? channelWait : offlineWait);
  }

  /** Pairs over the chosen relay, or over another one while that cannot be reached. */
  pair(id: number, code: string | null): void {
    if (!this.#pairings.any) {
      this.#pairingAt = this.#home.connected ? this.#home : (this.#all.find((relay) => relay.connected) ?? this.#home);
    }
    this.#pairings.start(id, code, this.#pairingAt.session);
  }

  cancelPairing(id: number): void {
    this.#pairings.cancel(id);
  }

  /** Checks all paths. */
  diagnose(id: number): Promise<void> {
    const { identity, timing, makeSocket, post } = this.#options;
    const addresses = [...new Set([this.#home, ...this.#all])].map(({ address }) => address);
    const patient = { addresses, listed: this.#paths.posted, identity, label: this.#label, timing, makeSocket };
    return this.#doctors.run(id, patient, (state) => post({ t: "diagnosis", id, state }));
  }

  cancelDiagnosis(id: number): void {
    this.#doctors.cancel(id);
  }

  /** Ends this browser's access to a device. */
  async forget(deviceId: string): Promise<void> {
    const { forget } = await import("./known-paths");
    await forget(deviceId, {
      relays: this.#all,
      channel: this.#channels.get(deviceId),
      wait: this.#options.timing.channelWait,
      refuse: (relays) =>
        new UnreachableError(relays ? t("link.link.halfForgotten", { relays }) : t("link.link.relayNotReachable")),
      restored: () => this.#changed(),
      forgotten: async () => {
        this.#paths.forget(deviceId);
        this.#changed();
        this.#options.forgotten?.(deviceId);
        await this.#relays.know();
      },
    });
  }

  get #all(): Relay[] {
    return this.#relays.all;
  }

  get #home(): Relay {
    return this.#relays.home;
  }

  #relayHandler(): RelayHandler {
    return {
      label: () => this.#label,
      changed: () => this.#changed(),
      online: (here, session) => {
        this.#changed();
        if (here === this.#pairingAt) {
          this.#pairings.online(session);
        }
      },
      offline: (here) => here === this.#pairingAt && this.#pairings.offline(),
      pairing: (here, frame) => here === this.#pairingAt && this.#pairings.take(frame),
      busy: (here) => here === this.#pairingAt && this.#pairings.any,
      lost: (deviceId) => this.#lostAt(deviceId),
      open: (session) => [...this.#channels.values()].find(({ way }) => way?.link === session),
    };
  }

  #makeChannel(deviceId: string): DeviceChannel {
    const { identity, timing, post } = this.#options;
    const channel: DeviceChannel = new DeviceChannel(deviceId, identity, timing, {
      onChange: () => this.#report(deviceId),
      onEvent: (event, bytes) => {
        if (event.type === "paths_changed") {
          void this.#paths.read(channel);
        }
        post({ t: "event", deviceId, event }, bytes);
      },
      onRevoked: (way) => void this.#relayOf(way)?.revoked(deviceId),
      onOffline: (way) => void this.#relayOf(way)?.setOnline(deviceId, false),
      onMeasured: (way, rtt) => void this.#relayOf(way)?.book.measured(deviceId, rtt),
      onOpen: () => {
        this.#attendance.opened(deviceId);
        void this.#learnLabel(channel).then(() => this.#paths.read(channel));
      },
    });
    return channel;
  }

  // Handles a relay's report of a removal. While another relay serves the device, no copy is deleted until all report
  // it. A device that still answers is asked for a new proof, with which this browser claims the binding again.
  #lostAt(deviceId: string): void {
    this.#options.lost?.(deviceId);
    const channel = this.#channels.get(deviceId);
    if (channel?.isOpen) {
      void this.#paths.read(channel);
    }
  }

  #relayOf({ pin }: Way): Relay | undefined {
    return this.#relays.at(pin.authority);
  }

  // Asks the host for its label: only the one sent inside the seal counts.
  async #learnLabel(channel: DeviceChannel): Promise<void> {
    try {
      const answer = (await channel.ask("get_host")) as { host?: { label?: unknown } };
      const label = String(answer.host?.label ?? "");
      await Promise.all(this.#all.map(({ book }) => book.rename(channel.deviceId, label)));
      this.#options.post({ t: "devices", devices: mergeDevices(this.#all) });
    } catch {
      // The old label stays; the next opening asks again.
    }
  }

  /** Handles a change that affects devices or channels. */
  #changed(): void {
    this.#postState();
    this.#options.post({ t: "devices", devices: mergeDevices(this.#all) });
    for (const deviceId of this.#channels.keys()) {
      this.#updateOne(deviceId);
    }
    this.#paths.post();
  }

  /** This browser is online while any relay can be reached; otherwise the state of the chosen relay counts. */
  #postState(): void {
    const online = this.#all.find((relay) => relay.connected);
    this.#options.post({ t: "link", state: (online ?? this.#home).state });
  }

  #updateOne(deviceId: string): void {
    const ways = waysTo(this.#all, deviceId);
    const channel = this.#channels.get(deviceId);
    channel?.update(ways);
    if (this.#statusOf(deviceId) === "revoked") {
      channel?.rejectWaiting(t("link.link.revoked"));
    }
    this.#report(deviceId);
    this.#tryBetter(deviceId);
  }

  /**
   * Tries a better path, only while a page is visible: for the device, a new channel means a present person until it is
   * notified otherwise.
   */
  #tryBetter(deviceId: string): void {
    const channel = this.#channels.get(deviceId);
    const better =
      channel?.way && this.#attendance.sees(deviceId) ? betterWay(waysTo(this.#all, deviceId), channel.way.link) : null;
    if (better) {
      channel?.tryOut(better.way, better.below);
    }
  }

  #statusOf(deviceId: string): HostStatus {
    const relays = this.#all;
    if (isRevoked(relays, deviceId)) {
      return "revoked";
    }
    const channel = this.#channels.get(deviceId);
    if (channel?.isOpen) {
      return "open";
    }
    if (channel?.expired) {
      return "expired";
    }
    const leading = relays.filter(({ book }) => book.usable(deviceId));
    const asked = leading.length > 0 ? leading : relays;
    const told = asked.some(({ connected }) => connected) && !asked.some(({ undecided }) => undecided);
    return told && waysTo(leading, deviceId).length === 0 ? "offline" : "connecting";
  }

  #report(deviceId: string): void {
    const status = this.#statusOf(deviceId);
    const opening = this.#channels.get(deviceId)?.opening ?? 0;
    // Notify once for every change: a page resyncs when the opening is new.
    const key = `${status} ${opening}`;
    if (this.#postedStates.get(deviceId) !== key) {
      this.#postedStates.set(deviceId, key);
      this.#options.post({ t: "host", deviceId, status, opening });
      this.#options.reachable?.(deviceId, status === "open" ? opening : 0);
    }
    this.#paths.post();
  }
}
