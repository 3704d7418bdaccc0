import { Store } from "../../api/store";
import { useReadable } from "../shared/scorel-context";

/** The counts for the person at this browser, over all machines. */
export interface Attention {
  /** Sessions that wait for an approval or an answer. */
  needsYou: number;
  /** Other sessions with unread content. */
  unread: number;
  /** Sessions that wait for an approval or an answer, by machine. */
  machines: Readonly<Record<string, number>>;
}

export const noAttention: Attention = { needsYou: 0, unread: 0, machines: {} };

// A separate store, so that the first page loads no code that reads from machines.
export const attention = new Store(noAttention);

/** Returns the counts of InboxWatch; zero until it has counted. */
export function useAttention(): Attention {
  return useReadable(attention);
}
