// Which sessions the inbox lists, as its address says.
export const states = ["needs-you", "running", "unread", "pinned", "archived"] as const;
export type State = (typeof states)[number];

/** What is looked at; absent parts restrict nothing. */
export interface Filter {
  machine?: string;
  /** The id of a machine and that of a project of it, with a slash between them. */
  project?: string;
  state?: State;
}
