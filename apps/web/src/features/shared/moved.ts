import { Store } from "../../api/store";
import { useReadable } from "./scorel-context";

/** The devices that sessions were moved to, as the devices that had them said: by device and session. */
export const moved = new Store<Readonly<Record<string, string>>>({});

/** Notes where a session is now. */
export function noteMoved(from: string, sessionId: string, to: string): void {
  const { [`${to}/${sessionId}`]: _, ...others } = moved.get();
  moved.set({ ...others, [`${from}/${sessionId}`]: to });
}

/** Notes that a device has a session, which may have been moved away from it before. */
export function noteHere(deviceId: string, sessionId: string): void {
  const { [`${deviceId}/${sessionId}`]: before, ...others } = moved.get();
  if (before) {
    moved.set(others);
  }
}

/** The device that has a session now; undefined while the asked one has it, as far as this page knows. */
export function useMovedTo(deviceId: string, sessionId: string): string | undefined {
  return useReadable(moved)[`${deviceId}/${sessionId}`];
}
