import { Link } from "@tanstack/react-router";
import type { Host } from "../../api/contract";
import { sessionTitle } from "../device/host-data";
import { useSessions, useToldSession } from "../shared/sessions";

export interface ParentLinkProps {
  host: Host;
  projectId: string;
  /** Of the session whose agent gave the task. */
  sessionId: string;
}

/** Leads from the session of a task to the one that asked. */
export function ParentLink({ host, projectId, sessionId }: ParentLinkProps) {
  const { deviceId } = host;
  const told = useToldSession(deviceId, sessionId);
  const { sessions } = useSessions(host, projectId);
  const parent = told ?? sessions?.find((session) => session.id === sessionId);
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
