// What the log says of this browser's prompts: which are in it, and which were taken
// out of the queue before they got there.
import { clientKeyOf } from "./derive";
import type { Sender } from "./sender";
import { CUSTOM_LEAF, type QueuedPrompt, type SessionEntry } from "./types";

export class PromptsInLog {
  #keys = new Set<string>();
  readonly #sender: Pick<Sender, "settle" | "discard">;

  constructor(sender: Pick<Sender, "settle" | "discard">) {
    this.#sender = sender;
  }

  /** The client keys of the prompts that are in the log. */
  get keys(): ReadonlySet<string> {
    return this.#keys;
  }

  /** Reads what is new since `before`. Tells whether the session went to another leaf. */
  learn(before: SessionEntry[], entries: SessionEntry[]): boolean {
    const appended = before.length > 0 && entries[before.length - 1] === before[before.length - 1];
    if (!appended) {
      this.#keys = new Set();
    }
    let moved = false;
    for (const entry of entries.slice(appended ? before.length : 0)) {
      const key = clientKeyOf(entry);
      if (key) {
        this.#keys.add(key);
      }
      moved ||= appended && entry.type === "custom" && entry.customType === CUSTOM_LEAF;
    }
    this.#sender.settle(this.#keys);
    return moved;
  }

  /** The host has the message of a prompt, wherever in the log it is. */
  add(clientKey: string): void {
    if (!this.#keys.has(clientKey)) {
      this.#keys.add(clientKey);
      this.#sender.settle(this.#keys);
    }
  }

  // A prompt leaves the queue after its message is in the log; one that left it and is
  // not there was taken out by somebody. This holds of a log that is here as a whole.
  dropRemoved(before: QueuedPrompt[], after: QueuedPrompt[]): void {
    const waiting = new Set(after.map((prompt) => prompt.clientKey));
    for (const { clientKey } of before) {
      if (!waiting.has(clientKey) && !this.#keys.has(clientKey)) {
        this.#sender.discard(clientKey);
      }
    }
  }
}
