import { Link } from "wouter";
import type { Host } from "../../api/contract";
import type { Project, SessionSummary } from "../../api/types";
import { Dot } from "../../components/Badge";
import { IconButton } from "../../components/Button";
import { cx } from "../../components/cx";
import { PlusIcon } from "../../components/icons";
import { t } from "../../i18n/device";
import { address } from "../route/address";
import { useOpen } from "../route/entry";
import { SessionSearch } from "../search/SessionSearch";
import { sessionTitle, useHostData } from "../shared/host-data";
import { useHost, useHostFreshness } from "../shared/host-queries";
import { useReadable } from "../shared/scorel-context";
import { useAnySession, useSessions } from "../shared/sessions";
import { useStartSession } from "../shared/use-start-session";
import { useWaiting } from "../status/use-waiting";
import { WaitingBadge, WaitingCount } from "../status/WaitingBadge";
import { Pinned } from "./SessionRow";

/** How many sessions of a project the sidebar lists, with a link to the others on the device's page. */
const shown = 8;

export function SidebarSessions({ deviceId }: { deviceId: string }) {
  const host = useHost(deviceId);
  useHostFreshness(host);
  const { projects } = useHostData(host);
  const any = useAnySession(host);
  const start = useStartSession(host);
  // The device's page has its own search.
  const { sessionId } = useOpen();
  const listed = (
    <>
      {projects?.map((project) => (
        <div key={project.id} className="mb-2">
          <div className="flex items-center">
            <span className="caption min-w-0 flex-1 truncate py-1 pl-2 text-faint" title={project.path}>
              {project.name}
            </span>
            <IconButton
              label={t("device.sidebarSessions.newSessionIn", { name: project.name })}
              disabled={project.missing || project.unavailable !== undefined}
              onClick={() => start(project.id)}
              className="min-h-7"
            >
              <PlusIcon />
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
  const { sessions, total } = useSessions(host, project.id);
  const listed = (sessions ?? []).slice(0, shown);
  const { deviceId } = host;
  const starting = useWaiting(deviceId).filter((each) => each.sessionId === null && each.projectId === project.id);
  return (
    <>
      {starting.map((prompt) => (
        <Link
          key={prompt.clientKey}
          data-testid="sidebar-starting"
          to={address.newSession(deviceId, { project: project.id })}
          className="touchable flex items-center gap-2 rounded-md px-2 text-muted text-sm hover:bg-surface hover:text-ink"
        >
          <span dir="auto" className="min-w-0 flex-1 truncate">
            {prompt.text || t("device.sidebarSessions.newSession")}
          </span>
          <WaitingCount prompts={[prompt]} />
        </Link>
      ))}
      {listed.map((session) => (
        <SidebarSession key={session.id} host={host} session={session} />
      ))}
      {sessions && total > listed.length ? (
        <Link
          data-testid="sidebar-all"
          to={address.machine(deviceId, { project: project.id })}
          aria-label={t("device.sidebarSessions.showAllOf", { total, name: project.name })}
          className="touchable flex items-center rounded-md px-2 text-faint text-xs hover:bg-surface hover:text-ink"
        >
          {t("device.sidebarSessions.showAll", { total })}
        </Link>
      ) : null}
    </>
  );
}

function SidebarSession({ host, session }: { host: Host; session: SessionSummary }) {
  const { deviceId } = host;
  const reachable = useReadable(host.status) === "open";
  const open = useOpen();
  const here = open.deviceId === deviceId && open.sessionId === session.id;
  const waits = session.waitingApproval || session.waitingAnswer;
  const state = waits
    ? t("device.sidebarSessions.needsYou")
    : session.running
      ? t("device.sidebarSessions.working")
      : null;
  return (
    <Link
      to={address.session(deviceId, session.id)}
      aria-current={here ? "page" : undefined}
      className={cx(
        "touchable flex items-center gap-2 rounded-md px-2 text-sm hover:bg-surface hover:text-ink",
        here ? "bg-surface text-ink shadow-[inset_0_0_0_1px_var(--c-line)]" : "text-muted",
      )}
    >
      <span className="min-w-0 flex-1 truncate">
        {session.pinned ? <Pinned /> : null}
        {sessionTitle(session)}
      </span>
      <WaitingBadge deviceId={deviceId} sessionId={session.id} />
      {state ? (
        <span title={state}>
          <Dot tone={reachable ? (waits ? "warn" : "accent") : "neutral"} live={reachable} />
          <span className="sr-only">{state}</span>
        </span>
      ) : null}
    </Link>
  );
}
