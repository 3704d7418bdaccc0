import { Store } from "../../api/store";
import { useReadable } from "./scorel-context";

/** The devices that sessions were moved to, as reported by their former devices: by device and session. */
export const moved = new Store<Readonly<Record<string, string>>>({});

/** Records where a session is now. */
export function noteMoved(from: string, sessionId: string, to: string): void {
  const { [`${to}/${sessionId}`]: _, ...others } = moved.get();
  moved.set({ ...others, [`${from}/${sessionId}`]: to });
}

/** Records that a device has a session, which may have been moved away from it before. */
export function noteHere(deviceId: string, sessionId: string): void {
  const { [`${deviceId}/${sessionId}`]: before, ...others } = moved.get();
  if (before) {
    moved.set(others);
  }
}

/** Returns the device that has a session now; undefined if it is the given one, as far as this page knows. */
export function useMovedTo(deviceId: string, sessionId: string): string | undefined {
  return useReadable(moved)[`${deviceId}/${sessionId}`];
}
