import { Link } from "@tanstack/react-router";
import { sessionTitle } from "../device/host-data";
import { useToldSession } from "../shared/sessions";

export interface ParentLinkProps {
  deviceId: string;
  /** Of the session whose agent gave the task. */
  sessionId: string;
}

/** Leads from the session of a task to the one that asked. */
export function ParentLink({ deviceId, sessionId }: ParentLinkProps) {
  const parent = useToldSession(deviceId, sessionId);
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
