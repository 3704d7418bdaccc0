import { Link } from "@tanstack/react-router";
import type { SessionSummary } from "../../api/types";
import { sessionTitle } from "../device/host-data";

export interface ParentLinkProps {
  deviceId: string;
  /** Of the session whose agent gave the task. */
  sessionId: string;
  sessions: SessionSummary[] | null;
}

/** Leads from the session of a task to the one that asked. */
export function ParentLink({ deviceId, sessionId, sessions }: ParentLinkProps) {
  const parent = sessions?.find((session) => session.id === sessionId);
  return (
    <>
      task of{" "}
      <Link
        data-testid="parent-session"
        to="/d/$deviceId/s/$sessionId"
        params={{ deviceId, sessionId }}
        className="font-medium text-accent underline underline-offset-2"
      >
        {parent ? sessionTitle(parent) : "another session"}
      </Link>
      {" · "}
    </>
  );
}
