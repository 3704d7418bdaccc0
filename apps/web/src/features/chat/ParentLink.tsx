import { Link } from "@tanstack/react-router";
import type { Host } from "../../api/contract";
import { t } from "../../i18n/chat";
import { rich } from "../../i18n/rich";
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
      {rich((parent) => t("chat.parentLink.taskOf", parent), {
        parent: (
          <Link
            data-testid="parent-session"
            to="/d/$deviceId/s/$sessionId"
            params={{ deviceId, sessionId }}
            className="font-medium text-accent underline underline-offset-2"
          >
            {parent ? sessionTitle(parent) : t("chat.parentLink.anotherSession")}
          </Link>
        ),
      })}
      {" · "}
    </>
  );
}
