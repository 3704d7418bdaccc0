import type { Approval, Live } from "../../../api/types";

/** An approval that waits for an answer. */
export interface PendingApproval {
  approval: Approval;
  /** The subagent that asks and its session; undefined if this session's agent asks. */
  asker?: string;
  sessionId?: string | undefined;
}

/** Returns the waiting approvals of this session and of its subagents' sessions. */
export function pendingApprovals({ approvals, crew }: Live): PendingApproval[] {
  const theirs = crew.flatMap((batch) =>
    batch.children.flatMap(({ agent, sessionId, approvals: asked = [] }) =>
      asked.map((approval) => ({ approval, asker: agent, sessionId })),
    ),
  );
  return [...approvals.map((approval) => ({ approval })), ...theirs];
}
