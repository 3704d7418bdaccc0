import type { Host } from "../../../api/contract";

/** Names an answer about the repository of a session's folder; without further names, all of them. */
export function gitKey(host: Host, sessionId: string, ...names: string[]): readonly string[] {
  return [host.deviceId, "git", sessionId, ...names];
}

/** As much of a commit's id as people read. */
export function shortId(id: string): string {
  return id.slice(0, 7);
}
