import type { Ref } from "react";

/** What a list that is open takes of the keys of its field. */
export interface SuggestKeys {
  /** True if the key was meant for the list. */
  press(key: string): boolean;
}

/** What every list gets from the field that it belongs to. */
export interface SuggestProps {
  /** What is typed of the name that is looked for. */
  query: string;
  /** Of the list, for its field. */
  id: string;
  keys: Ref<SuggestKeys>;
  /** The id of the option that Enter takes. */
  onActive: (id: string | undefined) => void;
  onClose: () => void;
}
