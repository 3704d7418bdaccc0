import { isId } from "@scorel/protocol";
import type { Peer } from "@scorel/protocol/wire";
import type { Device } from "../api/contract";
import type { RelayAddress } from "../api/relay-url";
import { t } from "../i18n/link";
import { deletePin, loadPins, matchesPin, type Pin, savePin } from "./pins";

/**
 * The devices of this browser on one relay: the pins, which decide, and the relay's reports of bindings and presence,
 * which are used only where they agree with the pins.
 */
export class DeviceBook {
  readonly #db: IDBDatabase;
  readonly #address: RelayAddress;
  /** Returns the pin of a device at another relay: pairing binds the device, whichever relay serves it. */
  readonly #elsewhere: (id: string) => Pin | undefined;
  #pins = new Map<string, Pin>();
  #online = new Set<string>();
  #problems = new Map<string, Device>();
  #told = false;
  /** The creation times of pins removed here: a concurrent read may have begun before the removal. */
  #removed = new Map<string, number>();

  constructor(db: IDBDatabase, address: RelayAddress, elsewhere: (id: string) => Pin | undefined = () => undefined) {
    this.#db = db;
    this.#address = address;
    this.#elsewhere = elsewhere;
  }

  get authority(): string {
    return this.#address.authority;
  }

  /** Whether the relay has listed its bindings since this book was opened. */
  get told(): boolean {
    return this.#told;
  }

  /** Every device that the pins or the relay name, except those that are being paired. */
  get ids(): string[] {
    return [...this.pinned.map(({ id }) => id), ...this.#problems.keys()];
  }

  get pinned(): Pin[] {
    return [...this.#pins.values()].filter(({ state }) => state !== "pending");
  }

  pin(id: string): Pin | undefined {
    return this.#pins.get(id);
  }

  /** Reads the pins again, because another tab may have paired a device. */
  async load(): Promise<void> {
    const pins = await loadPins(this.#db, this.authority);
    const there = pins.filter((pin) => this.#removed.get(pin.id) !== pin.pairedAt);
    this.#pins = new Map(there.map((pin) => [pin.id, pin]));
  }

  /** Applies the bindings of a welcome. A pin that is not among them was revoked while this browser was offline. */
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
    const pin = this.#pins.get(peer.id) ?? this.#elsewhere(peer.id);
    if (!pin) {
      this.#problems.set(peer.id, { id: peer.id, label: peer.label, online: false, problem: t("link.devices.noPin") });
    } else if (!matchesPin(pin, peer)) {
      this.#problems.set(peer.id, {
        id: peer.id,
        label: pin.label,
        online: false,
        problem: t("link.devices.foreignKeys"),
      });
    } else if (pin.state !== "bound" || pin.authority !== this.authority) {
      const { rtt: _, ...kept } = pin;
      const adopted = pin.authority === this.authority ? {} : { claimed: true };
      await this.#save({ ...kept, ...adopted, state: "bound" });
    }
  }

  /** Returns the pin of a device that may be used. */
  usable(id: string): Pin | null {
    const pin = this.#pins.get(id);
    return pin?.state === "bound" && !this.#problems.has(id) ? pin : null;
  }

  /** Returns the devices that revoked this browser. */
  revokedIds(): string[] {
    return [...this.#pins.values()].filter((pin) => pin.state === "revoked").map((pin) => pin.id);
  }

  isOnline(id: string): boolean {
    return this.#online.has(id);
  }

  problem(id: string): Device | undefined {
    return this.#problems.get(id);
  }

  /** Stores a round-trip time, in milliseconds. */
  async measured(id: string, rtt: number): Promise<void> {
    const pin = this.usable(id);
    // Small variations are not stored: each store is a write to the disk.
    if (pin && Math.abs((pin.rtt ?? 0) - rtt) > rtt / 4) {
      await this.#save({ ...pin, rtt });
    }
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

  /** Stores a proven device until the relay confirms the binding. An existing binding is not changed. */
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

  /** Removes the pin that propose stored. */
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

  /** Removes the pin and returns a function that restores it. */
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

  async #store(pin: Pin): Promise<void> {
    this.#removed.delete(pin.id);
    const stored = this.#own(pin);
    await savePin(this.#db, stored);
    this.#pins.set(pin.id, stored);
  }

  // A failure to store is ignored: the relay repeats this at the next welcome.
  async #save(pin: Pin): Promise<void> {
    if (this.#removed.get(pin.id) === pin.pairedAt) {
      return;
    }
    const stored = this.#own(pin);
    this.#pins.set(pin.id, stored);
    await savePin(this.#db, stored).catch(() => {});
  }

  #own(pin: Pin): Pin {
    return { ...pin, authority: this.authority, url: this.#address.http };
  }

  async #remove(id: string): Promise<void> {
    const pin = this.#pins.get(id);
    if (pin) {
      this.#removed.set(id, pin.pairedAt);
    }
    this.#pins.delete(id);
    await deletePin(this.#db, this.authority, id);
  }
}
