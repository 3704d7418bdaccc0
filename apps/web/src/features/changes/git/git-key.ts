import type { Host } from "../../../api/contract";

/**
 * Returns the query key of an answer about the repository of a session's folder; without further names, of all of them.
 */
export function gitKey(host: Host, sessionId: string, ...names: string[]): readonly string[] {
  return [host.deviceId, "git", sessionId, ...names];
}

/** Returns the abbreviated id of a commit. */
export function shortId(id: string): string {
  return id.slice(0, 7);
}
