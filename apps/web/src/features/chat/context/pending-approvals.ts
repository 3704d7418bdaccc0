import type { Approval, Live } from "../../../api/types";

/** An approval that waits for an answer. */
export interface PendingApproval {
  approval: Approval;
  /** The subagent that asks, and its session; undefined if the agent of this session asks. */
  asker?: string;
  sessionId?: string | undefined;
}

/** The approvals that wait in this session and in those of its subagents. */
export function pendingApprovals({ approvals, crew }: Live): PendingApproval[] {
  const theirs = crew.flatMap((batch) =>
    batch.children.flatMap(({ agent, sessionId, approvals: asked = [] }) =>
      asked.map((approval) => ({ approval, asker: agent, sessionId })),
    ),
  );
  return [...approvals.map((approval) => ({ approval })), ...theirs];
}
