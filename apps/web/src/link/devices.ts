import { isId } from "@scorel/protocol";
import type { Peer } from "@scorel/protocol/wire";
import type { Device } from "../api/contract";
import { t } from "../i18n/link";
import { deletePin, loadPins, matchesPin, type Pin, savePin } from "./pins";

/**
 * The devices of this browser on one relay: the pins, which count, and what the
 * relay says of bindings and presence, which is only believed where it agrees.
 */
export class DeviceBook {
  readonly #db: IDBDatabase;
  readonly #authority: string;
  #pins = new Map<string, Pin>();
  #online = new Set<string>();
  #problems = new Map<string, Device>();
  #told = false;
  /** When the pins that were removed here had been made: reading them again may have begun before that. */
  #removed = new Map<string, number>();

  constructor(db: IDBDatabase, authority: string) {
    this.#db = db;
    this.#authority = authority;
  }

  get authority(): string {
    return this.#authority;
  }

  /** Reads the pins again: another tab may have paired. */
  async load(): Promise<void> {
    const pins = await loadPins(this.#db, this.#authority);
    const there = pins.filter((pin) => this.#removed.get(pin.id) !== pin.pairedAt);
    this.#pins = new Map(there.map((pin) => [pin.id, pin]));
  }

  /** Takes the bindings of a welcome. A pin that is not among them was revoked while this browser was away. */
  async welcome(peers: Peer[]): Promise<void> {
    await this.load();
    const devices = peers.filter((peer) => isId(peer.id, "dev"));
    this.#told = true;
    this.#online = new Set(devices.filter((peer) => peer.online).map((peer) => peer.id));
    this.#problems = new Map();
    for (const peer of devices) {
      await this.#admit(peer);
    }
    const listed = new Set(devices.map((peer) => peer.id));
    for (const pin of [...this.#pins.values()]) {
      if (!listed.has(pin.id)) {
        await (pin.state === "pending" ? this.#remove(pin.id) : this.#save({ ...pin, state: "revoked" }));
      }
    }
  }

  async #admit(peer: Peer): Promise<void> {
    const pin = this.#pins.get(peer.id);
    if (!pin) {
      this.#problems.set(peer.id, { id: peer.id, label: peer.label, online: false, problem: t("link.devices.noPin") });
    } else if (!matchesPin(pin, peer)) {
      this.#problems.set(peer.id, {
        id: peer.id,
        label: pin.label,
        online: false,
        problem: t("link.devices.foreignKeys"),
      });
    } else if (pin.state !== "bound") {
      await this.#save({ ...pin, state: "bound" });
    }
  }

  /** The pin of a device that may be used. */
  usable(id: string): Pin | null {
    const pin = this.#pins.get(id);
    return pin?.state === "bound" && !this.#problems.has(id) ? pin : null;
  }

  /** The devices that may be used, online or not. */
  usableIds(): string[] {
    return [...this.#pins.keys()].filter((id) => this.usable(id));
  }

  /** The devices that this browser was removed on. */
  revokedIds(): string[] {
    return [...this.#pins.values()].filter((pin) => pin.state === "revoked").map((pin) => pin.id);
  }

  isOnline(id: string): boolean {
    return this.#online.has(id);
  }

  /** Whether the binding is known to be gone, or never was. */
  isRevoked(id: string): boolean {
    const state = this.#pins.get(id)?.state;
    return state === "revoked" || (this.#told && state === undefined && !this.#problems.has(id));
  }

  problem(id: string): string | undefined {
    return this.#problems.get(id)?.problem;
  }

  async setOnline(id: string, online: boolean): Promise<void> {
    if (!this.#pins.has(id)) {
      await this.load();
    }
    if (this.#pins.has(id) && this.#problems.get(id)?.problem === t("link.devices.noPin")) {
      this.#problems.delete(id);
    }
    if (online) {
      this.#online.add(id);
    } else {
      this.#online.delete(id);
    }
  }

  /** Keeps a proven device until the relay confirms the binding; a binding that stands is left alone. */
  async propose(pin: Pin): Promise<void> {
    if (this.#pins.get(pin.id)?.state !== "bound") {
      await this.#store({ ...pin, state: "pending" });
    }
  }

  async bind(pin: Pin, online: boolean): Promise<void> {
    await this.#store({ ...pin, state: "bound" });
    this.#problems.delete(pin.id);
    await this.setOnline(pin.id, online);
  }

  /** Drops what propose kept. */
  async withdraw(id: string): Promise<void> {
    if (this.#pins.get(id)?.state === "pending") {
      await this.#remove(id);
    }
  }

  async revoke(id: string): Promise<void> {
    await this.load();
    this.#online.delete(id);
    this.#problems.delete(id);
    const pin = this.#pins.get(id);
    if (pin) {
      await this.#save({ ...pin, state: "revoked" });
    }
  }

  /** Drops the pin; returns how to take that back. */
  async forget(id: string): Promise<() => Promise<void>> {
    const pin = this.#pins.get(id);
    const problem = this.#problems.get(id);
    this.#problems.delete(id);
    await this.#remove(id);
    return async () => {
      if (pin) {
        await this.#store(pin);
      }
      if (problem) {
        this.#problems.set(id, problem);
      }
    };
  }

  async rename(id: string, label: string): Promise<void> {
    const pin = this.#pins.get(id);
    if (pin && label && pin.label !== label) {
      await this.#save({ ...pin, label });
    }
  }

  /** Until the relay has told, the devices of the pins; null where there is none. */
  list(): Device[] | null {
    const pinned = [...this.#pins.values()]
      .filter((pin) => pin.state !== "pending" && !this.#problems.has(pin.id))
      .sort((a, b) => a.pairedAt - b.pairedAt)
      .map(
        (pin): Device => ({
          id: pin.id,
          label: pin.label,
          online: pin.state === "bound" && this.#online.has(pin.id),
          ...(pin.state === "revoked" ? { revoked: true } : {}),
          ...(this.#told ? {} : { untold: true }),
        }),
      );
    return this.#told || pinned.length > 0 ? [...pinned, ...this.#problems.values()] : null;
  }

  async #store(pin: Pin): Promise<void> {
    this.#removed.delete(pin.id);
    await savePin(this.#db, pin);
    this.#pins.set(pin.id, pin);
  }

  // What the relay says again at the next welcome may fail to be stored now.
  async #save(pin: Pin): Promise<void> {
    if (this.#removed.get(pin.id) === pin.pairedAt) {
      return;
    }
    this.#pins.set(pin.id, pin);
    await savePin(this.#db, pin).catch(() => {});
  }

  async #remove(id: string): Promise<void> {
    const pin = this.#pins.get(id);
    if (pin) {
      this.#removed.set(id, pin.pairedAt);
    }
    this.#pins.delete(id);
    await deletePin(this.#db, this.#authority, id);
  }
}
