import type { Ref } from "react";

/** The key handling of an open list, called by its field. */
export interface SuggestKeys {
  /** Returns true if the list handled the key. */
  press(key: string): boolean;
}

/** The props that every list gets from its field. */
export interface SuggestProps {
  /** The typed part of the name. */
  query: string;
  /** The id of the list, for its field. */
  id: string;
  keys: Ref<SuggestKeys>;
  /** Called with the id of the option that Enter selects. */
  onActive: (id: string | undefined) => void;
  onClose: () => void;
}
