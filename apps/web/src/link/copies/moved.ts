// Moves this browser's data of a session to the session's new device.
import { ApiKind } from "../../api/types";
import type { Outbox } from "../outbox";
import { sessionOf } from "./images";
import type { CopyStore } from "./store";

/** A session that was moved from one device to another. */
export interface Move {
  from: string;
  sessionId: string;
  to: string;
}

/**
 * Addresses the session's waiting prompts to its new device. Each keeps its clientKey, so that a prompt that the old
 * device had received is not accepted twice. Prompts that were rejected because the session was moving are sent again.
 */
export async function carryPrompts(outbox: Pick<Outbox, "items" | "update">, move: Move): Promise<void> {
  const { from, sessionId, to } = move;
  for (const { clientKey } of outbox.items.filter((item) => item.deviceId === from && item.sessionId === sessionId)) {
    await outbox.update(clientKey, ({ projectId: _, ...item }) => {
      const passing = item.kind === ApiKind.unavailable;
      return { ...item, deviceId: to, error: passing ? null : item.error };
    });
  }
}

/** Seals the copies of the session and its images for the new device, unless newer ones exist there. */
export async function carryCopies(store: CopyStore, { from, sessionId, to }: Move): Promise<void> {
  const all = await store.all();
  const known = new Set(all.get(to));
  for (const id of (all.get(from) ?? []).filter((each) => sessionOf(each) === sessionId && !known.has(each))) {
    const copy = await store.read(from, id);
    if (copy) {
      await store.write({ deviceId: to, projectId: copy.projectId, id }, copy.value);
    }
  }
}
