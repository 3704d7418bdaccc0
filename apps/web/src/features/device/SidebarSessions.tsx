import { Link, useParams } from "@tanstack/react-router";
import type { Host } from "../../api/contract";
import type { Project, SessionSummary } from "../../api/types";
import { Dot } from "../../components/Badge";
import { IconButton } from "../../components/Button";
import { PlusIcon } from "../../components/icons";
import { Spinner } from "../../components/Spinner";
import { SessionSearch } from "../search/SessionSearch";
import { useHost, useHostFreshness } from "../shared/host-queries";
import { useAnySession, useSessions } from "../shared/sessions";
import { sessionTitle, useHostData } from "./host-data";
import { useNewSession } from "./new-session";

/** How many sessions of a project the sidebar lists; the device's page has them all. */
const shown = 8;

export function SidebarSessions({ deviceId }: { deviceId: string }) {
  const host = useHost(deviceId);
  useHostFreshness(host);
  const { projects } = useHostData(host);
  const any = useAnySession(host);
  const { create, busyProject } = useNewSession(host);
  // The page of the device has a search of its own.
  const { sessionId } = useParams({ strict: false });
  const listed = (
    <>
      {projects?.map((project) => (
        <div key={project.id} className="mb-2">
          <div className="flex items-center">
            <span className="caption min-w-0 flex-1 truncate py-1 pl-2 text-faint" title={project.path}>
              {project.name}
            </span>
            <IconButton
              label={`New session in ${project.name}`}
              disabled={project.missing || busyProject !== null}
              onClick={() => create(project.id)}
              className="min-h-7"
            >
              {busyProject === project.id ? <Spinner /> : <PlusIcon />}
            </IconButton>
          </div>
          <SidebarProject host={host} project={project} />
        </div>
      ))}
    </>
  );
  return (
    <div className="mt-1 mb-3 ml-[0.95rem] border-line border-l pl-2">
      {sessionId && any ? (
        <SessionSearch host={host} compact>
          {listed}
        </SessionSearch>
      ) : (
        listed
      )}
    </div>
  );
}

function SidebarProject({ host, project }: { host: Host; project: Project }) {
  const { sessions } = useSessions(host, project.id);
  return sessions
    ?.slice(0, shown)
    .map((session) => <SidebarSession key={session.id} deviceId={host.deviceId} session={session} />);
}

function SidebarSession({ deviceId, session }: { deviceId: string; session: SessionSummary }) {
  const waits = session.waitingApproval || session.waitingAnswer;
  const state = waits ? "waits for you" : session.running ? "running" : null;
  return (
    <Link
      to="/d/$deviceId/s/$sessionId"
      params={{ deviceId, sessionId: session.id }}
      activeProps={{ className: "bg-surface text-ink shadow-[inset_0_0_0_1px_var(--c-line)]" }}
      inactiveProps={{ className: "text-muted" }}
      className="touchable flex items-center gap-2 rounded-md px-2 text-sm hover:bg-surface hover:text-ink"
    >
      <span className="min-w-0 flex-1 truncate">{sessionTitle(session)}</span>
      {state ? (
        <span title={state}>
          <Dot tone={waits ? "warn" : "accent"} live />
          <span className="sr-only">{state}</span>
        </span>
      ) : null}
    </Link>
  );
}
