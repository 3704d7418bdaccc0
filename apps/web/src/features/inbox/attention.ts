import { Store } from "../../api/store";
import { useReadable } from "../shared/scorel-context";

/** What waits for the person at this browser, over all machines. */
export interface Attention {
  /** Sessions that wait for an approval or an answer. */
  needsYou: number;
  /** Other sessions with something new. */
  unread: number;
  /** Sessions that wait for an approval or an answer, by machine. */
  machines: Readonly<Record<string, number>>;
}

export const noAttention: Attention = { needsYou: 0, unread: 0, machines: {} };

// A store of its own: the first page loads nothing of what reads from machines.
export const attention = new Store(noAttention);

/** As InboxWatch has counted; zero until then. */
export function useAttention(): Attention {
  return useReadable(attention);
}
