import { navigate as go } from "wouter/use-browser-location";

/** What the browser stores with an entry of its history. */
export interface EntryState {
  /** Identifies the entry; the same after a reload. */
  readonly key: string;
  /** How many entries of this app are before it. */
  readonly index: number;
  /** The text searched for. It is not in the address, which the page's server sees. */
  readonly find?: string;
}

/** The state of an entry that this app did not make. */
const unknown: EntryState = { key: "", index: 0 };

/** Returns a key that no other entry of the tab has. Without https, `crypto.randomUUID` does not exist. */
const newKey = () => Math.random().toString(36).slice(2);

/** Reads the state of an entry. */
export function entryState(stored: unknown): EntryState {
  const { key, index } = (stored ?? {}) as Partial<EntryState>;
  return typeof key === "string" && typeof index === "number" ? (stored as EntryState) : unknown;
}

/** Gives the entry that the page was opened with a key, unless it has one. */
export function adoptEntry(): void {
  if (entryState(history.state) === unknown) {
    history.replaceState({ key: newKey(), index: 0 } satisfies EntryState, "");
  }
}

export interface NavigateOptions {
  /** Replaces the current entry instead of adding one. */
  replace?: boolean;
  state?: Pick<EntryState, "find">;
}

/** Opens an address of this app. As in any page, opening the current address adds no entry. */
export function navigate(to: string, { replace = false, state = {} }: NavigateOptions = {}): void {
  const { key, index } = entryState(history.state);
  const { href } = new URL(to, location.href);
  const stays = replace || href === location.href;
  const next = stays ? { key, index } : { key: newKey(), index: index + 1 };
  go(to, { replace: stays, state: { ...state, ...next } satisfies EntryState });
}
