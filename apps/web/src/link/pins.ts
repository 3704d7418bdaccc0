// The devices that this browser is paired with, and their keys. Only the pairing ceremony creates a pin: a relay's
// later reports never change one.
import { equalBytes, fromBase64url } from "@scorel/protocol";
import type { Peer } from "@scorel/protocol/wire";
import { STORES, transact } from "../api/db";
import { parseRelayUrl, type RelayAddress } from "../api/relay-url";

export interface Pin {
  /** The relay that holds the binding, host[:port]. */
  authority: string;
  /** The address of that relay, if it was stored. */
  url?: string;
  id: string;
  signKey: Uint8Array<ArrayBuffer>;
  sealKey: Uint8Array<ArrayBuffer>;
  label: string;
  pairedAt: number;
  /** pending: proven, but not confirmed by the relay. revoked: a tombstone, so that the page can report it. */
  state: "pending" | "bound" | "revoked";
  /** The device named this relay: the binding is removed when the device no longer does. */
  claimed?: boolean;
  /** The last round-trip time to the device, in milliseconds. */
  rtt?: number;
}

/** Returns the pins of all relays. */
export function allPins(db: IDBDatabase): Promise<Pin[]> {
  return transact<Pin[]>(db, STORES.pins, "readonly", (s) => s.getAll());
}

/** Returns the pins of one relay. */
export async function loadPins(db: IDBDatabase, authority: string): Promise<Pin[]> {
  return (await allPins(db)).filter((pin) => pin.authority === authority);
}

/** Reports whether this browser may use a device over any relay. */
export async function isBound(db: IDBDatabase, id: string): Promise<boolean> {
  return (await allPins(db)).some((pin) => pin.id === id && pin.state === "bound");
}

export async function savePin(db: IDBDatabase, pin: Pin): Promise<void> {
  await transact(db, STORES.pins, "readwrite", (s) => s.put(pin));
}

export async function deletePin(db: IDBDatabase, authority: string, id: string): Promise<void> {
  await transact(db, STORES.pins, "readwrite", (s) => s.delete([authority, id]));
}

export function pinOf(authority: string, peer: Peer, state: Pin["state"]): Pin {
  return {
    authority,
    id: peer.id,
    signKey: fromBase64url(peer.signKey),
    sealKey: fromBase64url(peer.sealKey),
    label: peer.label,
    pairedAt: Date.now(),
    state,
  };
}

/**
 * Returns the address of a pin's relay. Older pins store none: pages are served over https, except from this machine.
 */
export function relayOf({ authority, url }: Pin): RelayAddress {
  const address = parseRelayUrl(url ?? `http://${authority}`);
  return url || address.loopback ? address : parseRelayUrl(`https://${authority}`);
}

/** Reports whether the keys that a relay names are the pinned ones. */
export function matchesPin(pin: Pin, peer: Peer): boolean {
  return (
    pin.id === peer.id &&
    equalBytes(pin.signKey, fromBase64url(peer.signKey)) &&
    equalBytes(pin.sealKey, fromBase64url(peer.sealKey))
  );
}
