// The prompts that the log contains.
import { clientKeyOf } from "./derive";
import { CUSTOM_LEAF, type SessionEntry } from "./types";

export class PromptsInLog {
  #keys = new Set<string>();

  /** The client keys of the prompts that are in the log. */
  get keys(): ReadonlySet<string> {
    return this.#keys;
  }

  /** Reads the entries added since `before`. Reports whether the session moved to another leaf. */
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
    return moved;
  }
}
