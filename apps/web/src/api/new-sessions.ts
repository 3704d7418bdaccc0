// Sessions that begin with their first prompt. Both are one item of the outbox until the host has created the session;
// from then on the prompt belongs to that session, under the same key.

import type { NewSession, NewSessions, StartingSession } from "./contract";
import { kindOf, NO_SESSION, type OutboxItem } from "./outbox";
import type { Outgoing } from "./outgoing";
import { Store } from "./store";

type Start = OutboxItem & { start: NewSession };

export class Starter implements NewSessions {
  readonly state = new Store<StartingSession[]>([]);
  readonly #deviceId: string;
  readonly #outgoing: Outgoing;
  #items: Start[] = [];

  constructor(deviceId: string, outgoing: Outgoing) {
    this.#deviceId = deviceId;
    this.#outgoing = outgoing;
    outgoing.items.subscribe(() => this.#publish());
    this.#publish();
  }

  begin(start: NewSession, text: string, images: StartingSession["images"] = []): string {
    const fields = { deviceId: this.#deviceId, projectId: start.projectId, sessionId: NO_SESSION, text, start };
    return this.#outgoing.add({ ...fields, ...(images.length > 0 ? { images } : {}) });
  }

  begun(clientKey: string): Promise<string> {
    return this.#outgoing.begun(clientKey);
  }

  stored(clientKey: string): Promise<void> {
    return this.#outgoing.stored(clientKey);
  }

  retry(clientKey: string): void {
    this.#outgoing.retry(clientKey);
  }

  discard(clientKey: string): void {
    this.#outgoing.discard(clientKey);
  }

  #publish(): void {
    const items = this.#outgoing.items
      .get()
      .filter(
        (item): item is Start => item.deviceId === this.#deviceId && item.sessionId === NO_SESSION && !!item.start,
      );
    if (items.length === this.#items.length && items.every((item, i) => item === this.#items[i])) {
      return;
    }
    this.#items = items;
    this.state.set(
      items.map((item) => ({
        ...{ clientKey: item.clientKey, start: item.start, text: item.text, images: item.images ?? [] },
        state: item.error === null ? "waiting" : "failed",
        ...(item.error === null ? {} : { error: item.error, ...kindOf(item) }),
        ...(item.unstored ? { unstored: true } : {}),
      })),
    );
  }
}
