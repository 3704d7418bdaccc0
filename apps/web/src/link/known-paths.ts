// The paths to each device: its own reports of them, and claims of its binding at relays that do not have it yet.
// Loaded once a device is used.

import type { BindingClaimed, Peer } from "@scorel/protocol/wire";
import type { DevicePath } from "../api/contract";
import type { RelayAddress } from "../api/relay-url";
import type { Requests } from "../api/types";
import type { Pin } from "./pins";
import type { Relay } from "./relay";
import type { Way } from "./run";
import type { LinkSession } from "./session";

export { forget } from "./forget";

export type ListedPaths = Requests["list_paths"]["response"];
type Listed = ListedPaths["paths"][number] & { address: RelayAddress };

export interface KnownPathsOptions {
  /** The address that the pages were loaded from. */
  page: RelayAddress;
  /** Functions that the worker already contains: importing them here would split its script into several files. */
  parse: (url: string) => RelayAddress;
  matches: (pin: Pin, peer: Peer) => boolean;
  relays: () => Relay[];
  home: () => Relay;
  /** Returns the current path of the channel to a device. */
  used: (deviceId: string) => Way | null;
  /** Opens and keeps connections to the relays of `addresses`. */
  connect: () => void;
  changed: () => void;
}

/** How many paths of one device are considered. */
const MOST = 16;

export class KnownPaths {
  readonly #options: KnownPathsOptions;
  readonly #listed = new Map<string, Listed[]>();
  readonly #proofs = new Map<string, ListedPaths["proof"]>();
  /** The claims on each connection: by device, the time of the proof and the relay's answer. */
  readonly #claims = new WeakMap<LinkSession, Map<string, { signedAt: number; refusal?: string }>>();

  constructor(options: KnownPathsOptions) {
    this.#options = options;
  }

  /** The addresses at which the devices report that they can be reached, if pages can connect to them. */
  get addresses(): RelayAddress[] {
    return [...this.#listed.values()]
      .flat()
      .map(({ address }) => address)
      .filter((address) => obstacle(address, this.#options.page) === null);
  }

  /** Applies a device's report of its paths. */
  async take(deviceId: string, { paths, proof }: ListedPaths): Promise<void> {
    this.#listed.set(
      deviceId,
      paths.slice(0, MOST).flatMap((path) => this.#read(path)),
    );
    this.#proofs.set(deviceId, proof);
    await this.#dropUnlisted(deviceId);
    this.#options.connect();
  }

  forget(deviceId: string): void {
    this.#listed.delete(deviceId);
    this.#proofs.delete(deviceId);
  }

  /** Claims missing bindings at the relays, once for each connection and proof. */
  claim(): void {
    for (const relay of this.#options.relays()) {
      for (const [deviceId, proof] of this.#proofs) {
        const pin = this.#pinOf(deviceId);
        if (relay.session && proof && pin && this.#lacks(relay, deviceId)) {
          void this.#claim(relay, relay.session, pin, proof);
        }
      }
    }
  }

  /** Returns the paths to a device, as this browser sees them. */
  of(deviceId: string): DevicePath[] {
    const listed = this.#listed.get(deviceId) ?? [];
    const named = new Set(listed.map(({ address }) => address.authority));
    const others = this.#options
      .relays()
      .filter(({ address, book }) => book.pin(deviceId) && !named.has(address.authority))
      .map(({ address }): Listed => ({ kind: "relay", url: address.http, state: "", address }));
    return [...listed, ...others].map((path) => this.#look(deviceId, path));
  }

  #read(path: ListedPaths["paths"][number]): Listed[] {
    try {
      return [{ ...path, address: this.#options.parse(path.url) }];
    } catch {
      return []; // sent by a newer host
    }
  }

  #relayAt(address: RelayAddress): Relay | undefined {
    return this.#options.relays().find((relay) => relay.address.http === address.http);
  }

  #pinOf(deviceId: string): Pin | undefined {
    return this.#options
      .relays()
      .map(({ book }) => book.usable(deviceId))
      .find((pin) => pin !== null) as Pin | undefined;
  }

  #lacks({ address, book }: Relay, deviceId: string): boolean {
    const listed = this.#listed.get(deviceId)?.some((path) => path.address.http === address.http);
    return Boolean(listed) && book.usable(deviceId) === null && book.problem(deviceId) === undefined;
  }

  async #claim(relay: Relay, session: LinkSession, pin: Pin, proof: NonNullable<ListedPaths["proof"]>): Promise<void> {
    const { id } = pin;
    const { signedAt, signature } = proof;
    const claims = this.#claims.get(session) ?? new Map<string, { signedAt: number; refusal?: string }>();
    this.#claims.set(session, claims);
    if (claims.get(id)?.signedAt === signedAt) {
      return;
    }
    claims.set(id, { signedAt });
    try {
      // An older relay does not answer; no one waits for this.
      const { peer } = await session.ask<BindingClaimed>((requestId) => ({
        ...{ type: "claim_binding", requestId, deviceId: id, signedAt },
        proof: signature,
      }));
      if (this.#options.matches(pin, peer)) {
        const { rtt: _, ...kept } = pin;
        await relay.book.bind({ ...kept, claimed: true }, peer.online);
      }
    } catch (err) {
      // Store the relay's reason; without a connection, the claim no longer exists.
      claims.set(id, { signedAt, refusal: err instanceof Error ? err.message : "" });
    }
    this.#options.changed();
  }

  /**
   * Removes relays that the device has left. The relay of the pairing stays, because relays may have more than one
   * address.
   */
  async #dropUnlisted(deviceId: string): Promise<void> {
    const named = this.#listed.get(deviceId)?.map(({ address }) => address.authority);
    for (const relay of this.#options.relays()) {
      const left = relay !== this.#options.home() && !named?.includes(relay.address.authority);
      if (left && relay.book.pin(deviceId)?.claimed) {
        await relay.book.forget(deviceId);
      }
    }
  }

  #look(deviceId: string, { kind, url, state: there, address }: Listed): DevicePath {
    const relay = this.#relayAt(address);
    const path = { kind, url };
    if (!relay) {
      return { ...path, state: obstacle(address, this.#options.page) ?? "connecting" };
    }
    const { book, session } = relay;
    if (!session) {
      return { ...path, ...disconnected(relay, there) };
    }
    const pin = book.pin(deviceId);
    const problem = book.problem(deviceId)?.problem;
    if (problem || !pin || pin.state === "pending") {
      const detail = problem ?? this.#claims.get(session)?.get(deviceId)?.refusal;
      return { ...path, state: "unbound", ...(detail ? { detail } : {}) };
    }
    if (pin.state === "revoked") {
      return { ...path, state: "revoked" };
    }
    const rtt = pin.rtt === undefined ? {} : { rtt: pin.rtt };
    const used = this.#options.used(deviceId)?.link === session;
    return { ...path, ...rtt, state: used ? "used" : book.isOnline(deviceId) ? "ready" : "absent" };
  }
}

/** Returns why pages cannot connect to an address: browsers forbid it, or the address belongs to another machine. */
export function obstacle(address: RelayAddress, page: RelayAddress): "insecure" | "elsewhere" | null {
  if (address.loopback && !page.loopback) {
    return "elsewhere";
  }
  return page.http.startsWith("https:") && address.http.startsWith("http:") ? "insecure" : null;
}

/** `there` is the device's report of its own connection. */
function disconnected({ state, greeted, undecided }: Relay, there: string): Pick<DevicePath, "state" | "detail"> {
  if (state.state === "refused") {
    return { state: "refused", detail: state.message };
  }
  const detail = state.state === "connecting" && state.lastError !== null ? { detail: state.lastError } : {};
  // The device connects and this browser never did: browsers do not report that a page was rejected.
  return { state: there === "connected" && !greeted && !undecided ? "origin" : "connecting", ...detail };
}
