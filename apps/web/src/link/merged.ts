// Merges the devices of all relays into one list: a device that several relays serve is one device.
import type { Device } from "../api/contract";
import type { DeviceBook } from "./devices";

/** The reports of one relay. */
export interface Told {
  readonly book: DeviceBook;
  /** Whether this browser is logged in to the relay. */
  readonly connected: boolean;
}

/**
 * Returns the merged devices, or those of the pins until a relay has reported; null if there are none. Unusable devices
 * come last.
 */
export function mergeDevices(relays: readonly Told[]): Device[] | null {
  const pins = relays.flatMap(({ book }) => book.pinned).sort((a, b) => a.pairedAt - b.pairedAt);
  if (pins.length === 0 && !relays.some(({ book }) => book.told)) {
    return null;
  }
  const ids = new Set([...pins.map(({ id }) => id), ...relays.flatMap(({ book }) => book.ids)]);
  const devices = [...ids].map((id) => mergeDevice(relays, id));
  return [...devices.filter(({ problem }) => !problem), ...devices.filter(({ problem }) => problem)];
}

function mergeDevice(relays: readonly Told[], id: string): Device {
  const leading = relays.filter(({ book }) => book.ids.includes(id));
  const usable = leading.filter(({ book }) => book.usable(id));
  const problem = usable.length > 0 ? undefined : leading.map(({ book }) => book.problem(id)).find(Boolean);
  if (problem) {
    return problem;
  }
  // The reports of relays that revoked this browser are ignored while another relay serves the device.
  const telling = usable.length > 0 ? usable : leading;
  const told = telling.filter(({ book }) => book.told);
  return {
    id,
    label: telling.map(({ book }) => book.pin(id)?.label).find(Boolean) ?? id,
    online: usable.some(({ book }) => book.isOnline(id)),
    ...(usable.length === 0 ? { revoked: true } : {}),
    ...(told.length === 0 ? { untold: true } : {}),
    ...(told.length > 0 && !told.some(({ connected }) => connected) ? { away: true } : {}),
  };
}

/** Reports whether no relay serves a device any more, or none ever did. */
export function isRevoked(relays: readonly Told[], id: string): boolean {
  const states = relays.map(({ book }) => book.pin(id)?.state).filter(Boolean);
  if (states.length > 0) {
    return states.every((state) => state === "revoked");
  }
  return relays.some(({ book }) => book.told) && !relays.some(({ book }) => book.problem(id));
}

/** Returns a sentence that says why a device is not used, if no usable relay serves it. */
export function problemOf(relays: readonly Told[], id: string): string | undefined {
  return relays.some(({ book }) => book.usable(id))
    ? undefined
    : relays.map(({ book }) => book.problem(id)?.problem).find(Boolean);
}
