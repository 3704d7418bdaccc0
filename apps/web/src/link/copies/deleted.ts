import { RefusedError } from "../../api/messages";
import { ApiKind, type Requests } from "../../api/types";

/** Returns the sessions that a host no longer has. */
export async function deletedSessions(
  sessionIds: Iterable<string>,
  ask: (name: string, fields: object) => Promise<unknown>,
): Promise<string[]> {
  const left = new Set(sessionIds);
  let after: string | undefined = "";
  while (left.size > 0 && after !== undefined) {
    const fields = { projectId: "", all: true, archived: "too", limit: 100, ...(after ? { after } : {}) };
    const page = (await ask("list_sessions", fields)) as Requests["list_sessions"]["response"];
    for (const { id } of page.sessions) {
      left.delete(id);
    }
    after = page.next || undefined;
  }
  // A list may omit sessions that cannot be read now: only the host's answer about the session itself counts.
  const deleted: string[] = [];
  for (const sessionId of left) {
    await ask("get_entries", { sessionId, before: 1 }).catch((err: unknown) => {
      if (err instanceof RefusedError && err.kind === ApiKind.not_found) {
        deleted.push(sessionId);
      }
    });
  }
  return deleted;
}
