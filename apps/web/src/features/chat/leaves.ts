import type { Approval, Live } from "../../api/types";

/** A leave that is asked for. */
export interface Leave {
  approval: Approval;
  /** The agent that asks, and its session, where it is one that works for this session. */
  asker?: string;
  sessionId?: string | undefined;
}

/** What waits for a leave, here and with the agents that work for this session. */
export function allLeaves({ approvals, crew }: Live): Leave[] {
  const theirs = crew.flatMap((batch) =>
    batch.children.flatMap(({ agent, sessionId, approvals: asked = [] }) =>
      asked.map((approval) => ({ approval, asker: agent, sessionId })),
    ),
  );
  return [...approvals.map((approval) => ({ approval })), ...theirs];
}
