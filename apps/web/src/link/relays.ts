// The relays that this browser keeps connections to: the chosen one, and those of its devices.
import type { RelayAddress } from "../api/relay-url";
import { allPins, relayOf } from "./pins";
import { Relay, type RelayOptions } from "./relay";

/** The callbacks of a relay that the link implements. */
export type RelayHandler = Omit<RelayOptions, "db" | "identity" | "timing" | "makeSocket" | "elsewhere">;

/** The maximum number of relays. */
const MOST = 16;

export class Relays {
  readonly #options: Omit<RelayOptions, "elsewhere">;
  /** Returns the addresses at which devices report that they can be reached. */
  readonly #named: () => RelayAddress[];
  readonly #byAuthority = new Map<string, Relay>();
  #visible = true;
  #stopped = false;
  /** The chosen relay. */
  home: Relay;

  constructor(options: Omit<RelayOptions, "elsewhere">, home: RelayAddress, named: () => RelayAddress[]) {
    this.#options = options;
    this.#named = named;
    this.home = this.#make(home);
  }

  get all(): Relay[] {
    return [...this.#byAuthority.values()];
  }

  at(authority: string): Relay | undefined {
    return this.#byAuthority.get(authority);
  }

  choose(address: RelayAddress): void {
    const known = this.at(address.authority);
    if (known?.address.http === address.http) {
      this.home = known;
    } else {
      known?.stop();
      this.home = this.#make(address);
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const relay of this.all) {
      relay.stop();
    }
  }

  setVisible(visible: boolean): void {
    this.#visible = visible;
    for (const relay of this.all) {
      relay.setVisible(visible);
    }
  }

  /** Connects to the relays of devices and closes all others except the chosen one. */
  async know(): Promise<void> {
    const bound = (await allPins(this.#options.db)).filter(({ state }) => state === "bound");
    const named = this.#named();
    const wanted = new Set([this.home.address, ...bound, ...named].map(({ authority }) => authority));
    for (const [authority, relay] of this.#byAuthority) {
      if (!wanted.has(authority)) {
        this.#byAuthority.delete(authority);
        relay.stop();
      }
    }
    for (const address of [...bound.map(relayOf), ...named]) {
      if (!this.at(address.authority) && this.#byAuthority.size < MOST) {
        this.#make(address);
      }
    }
    await Promise.all(this.all.map((relay) => relay.load()));
    this.#options.changed();
    for (const relay of this.#stopped ? [] : this.all) {
      relay.dial();
    }
  }

  #make(address: RelayAddress): Relay {
    const relay: Relay = new Relay(address, {
      ...this.#options,
      elsewhere: (id) =>
        this.all
          .filter((each) => each !== relay)
          .map(({ book }) => book.pinned.find((pin) => pin.id === id))
          .find(Boolean),
    });
    relay.setVisible(this.#visible);
    this.#byAuthority.set(address.authority, relay);
    return relay;
  }
}
