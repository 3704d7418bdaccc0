// The requests that bring one prompt to its host. Doing any of them twice changes nothing.
import { ApiError, type Host } from "../api/contract";
import { promptContent, withImages } from "../api/images";
import { type Gone, NO_SESSION, type OutboxItem } from "../api/outbox";
import { ApiKind } from "../api/types";
import { t } from "../i18n/link";
import type { Outbox } from "./outbox";

/** Rejects with ApiError when the host refuses, with OfflineError when it cannot be reached. */
export type Ask = Host["request"];

/** Creates the session of an item that begins one. Afterwards the item is a prompt of that session, or discarded. */
export async function beginSession(outbox: Outbox, ask: Ask, clientKey: string): Promise<void> {
  const item = await outbox.update(clientKey, (each) => (each.asked ? each : { ...each, asked: true }));
  if (!item?.start) {
    return;
  }
  const { mode, ...fields } = item.start;
  const { session } = await ask("create_session", { ...fields, clientKey });
  if (fields.worktree && !session.worktree) {
    await deleteEmpty(ask, session.id);
    throw new ApiError(ApiKind.bad_request, t("link.delivery.noWorktrees"));
  }
  if (mode && !item.discarded) {
    await ask("set_mode", { sessionId: session.id, mode });
  }
  const after = await outbox.update(clientKey, (each) => (each.discarded ? each : promptOf(each, session.id)));
  if (after?.discarded) {
    await deleteEmpty(ask, session.id);
    await outbox.remove(clientKey, "discarded");
  }
}

function promptOf({ start, asked: _, ...item }: OutboxItem, sessionId: string): OutboxItem {
  return { ...item, sessionId, ...(start ? { projectId: start.projectId } : {}) };
}

// Somebody else may have written in it meanwhile.
async function deleteEmpty(ask: Ask, sessionId: string): Promise<void> {
  const { session, live } = await ask("get_snapshot", { sessionId });
  if (session.messageCount === 0 && live.queue.length === 0 && !live.turn) {
    await ask("delete_session", { sessionId });
  }
}

/** Sends a prompt to its session. `asked` is called when all but the prompt itself has arrived. */
export async function sendPrompt(
  ask: Ask,
  item: OutboxItem,
  progress: (done: number) => void,
  asked: () => void,
): Promise<Gone["outcome"]> {
  const { clientKey, sessionId, text, steer, images = [] } = item;
  const mode = steer ? ({ mode: "steer" } as const) : {};
  const sent = await withImages({ request: ask }, images, progress, () => {
    const answer = ask("send_prompt", { sessionId, clientKey, ...promptContent(text, images), ...mode });
    asked();
    return answer;
  });
  return sent.state === "removed" || sent.state === "taken" ? sent.state : "queued";
}

/** Whether the session of an item does not exist yet, as far as this browser knows. */
export function beginsSession(item: OutboxItem): boolean {
  return item.sessionId === NO_SESSION;
}
