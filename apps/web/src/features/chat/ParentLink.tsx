import { Link } from "wouter";
import type { Host } from "../../api/contract";
import { t } from "../../i18n/chat";
import { rich } from "../../i18n/rich";
import { address } from "../route/address";
import { sessionTitle } from "../shared/host-data";
import { useSessions, useToldSession } from "../shared/sessions";

export interface ParentLinkProps {
  host: Host;
  projectId: string;
  /** The session whose agent started the task. */
  sessionId: string;
}

/** Links from the session of a task to the session that started it. */
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
            to={address.session(deviceId, sessionId)}
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
