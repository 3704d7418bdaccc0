// The requests that deliver one prompt to its host. All of them are idempotent.
import { ApiError, type Host } from "../api/contract";
import { promptContent, withImages } from "../api/images";
import { type Gone, NO_SESSION, type OutboxItem } from "../api/outbox";
import { ApiKind, type FirstPrompt, type SendPromptResponse } from "../api/types";
import { t } from "../i18n/link";
import type { Outbox } from "./outbox";

/** Rejects with ApiError when the host rejects the request, and with OfflineError when it cannot be reached. */
export type Ask = Host["request"];

/**
 * Creates the session of an item, together with its prompt: a host that rejects one rejects both. Resolves with the
 * prompt's outcome, or with null if the item is now a prompt of that session, because an older host accepts no prompt
 * with a session, or was discarded.
 */
export async function beginSession(
  outbox: Outbox,
  ask: Ask,
  clientKey: string,
  progress: (done: number) => void,
): Promise<Gone["outcome"] | null> {
  const item = await outbox.update(clientKey, (each) => (each.asked ? each : { ...each, asked: true }));
  if (!item?.start) {
    return null;
  }
  const { images = [], start } = item;
  const create = (prompt?: FirstPrompt) =>
    ask("create_session", { ...start, clientKey, ...(prompt ? { prompt } : {}) });
  const { session, prompt } = item.discarded
    ? await create()
    : await withImages({ request: ask }, images, progress, () => create(promptContent(item.text, images))).catch(
        async (err) => {
          if (err instanceof ApiError) {
            await outbox.update(clientKey, ({ asked: _, ...each }) => each); // there is no session
          }
          throw err;
        },
      );
  if (start.worktree && !session.worktree) {
    await deleteEmpty(ask, session.id);
    throw new ApiError(ApiKind.bad_request, t("link.delivery.noWorktrees"));
  }
  if (start.mode && !prompt && !item.discarded) {
    await ask("set_mode", { sessionId: session.id, mode: start.mode });
  }
  const after = await outbox.update(clientKey, (each) => (each.discarded ? each : promptOf(each, session.id)));
  if (after?.discarded) {
    await takeBack(ask, session.id, clientKey);
    await outbox.remove(clientKey, "discarded");
    return null;
  }
  return prompt ? outcomeOf(prompt) : null;
}

function promptOf({ start, asked: _, ...item }: OutboxItem, sessionId: string): OutboxItem {
  return { ...item, sessionId, ...(start ? { projectId: start.projectId } : {}) };
}

// Another client may have written to it meanwhile.
async function deleteEmpty(ask: Ask, sessionId: string): Promise<void> {
  const { session, live } = await ask("get_snapshot", { sessionId });
  if (session.messageCount === 0 && live.queue.length === 0 && !live.turn) {
    await ask("delete_session", { sessionId });
  }
}

/** Withdraws a prompt that had already reached the host, and deletes its session if that leaves it empty. */
async function takeBack(ask: Ask, sessionId: string, clientKey: string): Promise<void> {
  const { queue, turn } = (await ask("get_snapshot", { sessionId })).live;
  const keys = queue.map((queued) => queued.clientKey);
  const withdraw = async () => {
    if (keys.includes(clientKey)) {
      const items = keys.filter((key) => key !== clientKey).map((key) => ({ clientKey: key }));
      await ask("edit_queue", { sessionId, expected: keys, items });
    }
    if (turn?.clientKey === clientKey) {
      await ask("cancel_turn", { sessionId, turnId: turn.turnId });
    }
  };
  try {
    await withdraw();
  } catch (err) {
    // It has begun meanwhile, and the session shows it.
    if (!(err instanceof ApiError)) {
      throw err;
    }
  }
  await deleteEmpty(ask, sessionId);
}

/** Sends a prompt to its session. `asked` is called when everything but the prompt itself has arrived. */
export async function sendPrompt(
  ask: Ask,
  item: OutboxItem,
  progress: (done: number) => void,
  asked: () => void,
): Promise<Gone["outcome"]> {
  const { clientKey, sessionId, text, createdAt, steer, images = [] } = item;
  const mode = steer ? ({ mode: "steer" } as const) : {};
  const sent = await withImages({ request: ask }, images, progress, () => {
    const waitedMs = Math.max(Date.now() - createdAt, 0);
    const answer = ask("send_prompt", { sessionId, clientKey, ...promptContent(text, images), ...mode, waitedMs });
    asked();
    return answer;
  });
  return outcomeOf(sent);
}

function outcomeOf({ state }: SendPromptResponse): Gone["outcome"] {
  return state === "removed" || state === "taken" ? state : "queued";
}

/** Reports whether the session of an item does not exist yet, as far as this browser knows. */
export function beginsSession(item: OutboxItem): boolean {
  return item.sessionId === NO_SESSION;
}
