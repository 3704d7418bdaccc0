import { useMemo } from "react";
import type { SessionState } from "../../../api/contract";
import { type Decided, decisionIn } from "./decided";

/**
 * Finds the decision of an approval: in the log, or for a subagent in the state of its batch. It is remembered, because
 * a batch may end before the card disappears.
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
