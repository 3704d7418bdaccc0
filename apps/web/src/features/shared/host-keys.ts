import type { Requests } from "../../api/types";

/** The key that a host's answer is kept under. The device comes first, so that all of it can be dropped at once. */
export function hostKey<K extends keyof Requests>(deviceId: string, name: K, fields: Requests[K]["request"]) {
  return [deviceId, name, fields] as const;
}
