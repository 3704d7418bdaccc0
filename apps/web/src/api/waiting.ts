// The prompts that wait in this browser, as lists and badges show them.
import type { WaitingPrompt } from "./contract";
import { kindOf, NO_SESSION, type OutboxItem } from "./outbox";
import type { Outgoing } from "./outgoing";
import { Store } from "./store";

export class Waiting {
  readonly state = new Store<WaitingPrompt[]>([]);
  /** Caches the shown object of each item, so that it stays the same while the item does. */
  #shown = new Map<OutboxItem, WaitingPrompt>();

  constructor({ items }: Pick<Outgoing, "items">) {
    items.subscribe(() => {
      this.#shown = new Map(items.get().map((item) => [item, this.#shown.get(item) ?? waitingOf(item)]));
      this.state.set([...this.#shown.values()]);
    });
  }
}

function waitingOf(item: OutboxItem): WaitingPrompt {
  const { clientKey, deviceId, projectId, sessionId, start, text, images, error, unstored } = item;
  const project = projectId ?? start?.projectId;
  return {
    ...{ clientKey, deviceId, text, error, ...kindOf(item) },
    ...(project ? { projectId: project } : {}),
    sessionId: sessionId === NO_SESSION ? null : sessionId,
    images: images?.length ?? 0,
    ...(unstored ? { unstored } : {}),
  };
}
