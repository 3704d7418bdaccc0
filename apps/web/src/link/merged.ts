// The devices of all relays as one list: a device that several relays lead to is one device.
import type { Device } from "../api/contract";
import type { DeviceBook } from "./devices";

/** What one relay says. */
export interface Told {
  readonly book: DeviceBook;
  /** This browser is logged in there now. */
  readonly connected: boolean;
}

/** Until a relay has told, the devices of the pins; null where there is none. Those that cannot be used come last. */
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
  // What relays say of a device that they shut this browser out of tells nothing while another leads there.
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

/** Whether no relay leads to a device any more, or none ever did. */
export function isRevoked(relays: readonly Told[], id: string): boolean {
  const states = relays.map(({ book }) => book.pin(id)?.state).filter(Boolean);
  if (states.length > 0) {
    return states.every((state) => state === "revoked");
  }
  return relays.some(({ book }) => book.told) && !relays.some(({ book }) => book.problem(id));
}

/** A sentence on why a device is not used, where no relay leads to it that may be. */
export function problemOf(relays: readonly Told[], id: string): string | undefined {
  return relays.some(({ book }) => book.usable(id))
    ? undefined
    : relays.map(({ book }) => book.problem(id)?.problem).find(Boolean);
}
