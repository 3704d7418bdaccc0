import type { Requests } from "../../api/types";

/**
 * Returns the key under which a host's answer is cached. The device comes first, so that all its answers can be dropped
 * at once.
 */
export function hostKey<K extends keyof Requests>(deviceId: string, name: K, fields: Requests[K]["request"]) {
  return [deviceId, name, fields] as const;
}
