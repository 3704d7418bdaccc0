import { useMemo } from "react";
import type { SessionState } from "../../../api/contract";
import { type Decided, decisionIn } from "./decided";

/**
 * Finds how an approval was answered: in the log, or for a subagent in what its batch tells.
 * That is remembered, since a batch may end before the card has left.
 */
export function useDecisions({ live, entries }: SessionState): (approvalId: string) => Decided | null {
  const told = useMemo(() => new Map<string, Decided>(), []);
  for (const { approvalId, ...decided } of live.crew.flatMap(({ children }) =>
    children.flatMap((child) => child.decided ?? []),
  )) {
    told.set(approvalId, decided);
  }
  return (approvalId) => decisionIn(entries, approvalId) ?? told.get(approvalId) ?? null;
}
