// The sessions that the inbox lists, as selected by its address.
export const states = ["needs-you", "running", "unread", "pinned", "archived"] as const;
export type State = (typeof states)[number];

/** The filter; absent parts restrict nothing. */
export interface Filter {
  machine?: string;
  /** The id of a machine and the id of one of its projects, separated by a slash. */
  project?: string;
  state?: State;
}
