import type { Device } from "../../api/contract";
import { MAX_PROMPT, type Project } from "../../api/types";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { FolderIcon, MachineIcon, PlusIcon } from "../../components/icons";
import { EmptyState } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/share";
import { address } from "../route/address";
import { useSearchParams } from "../route/entry";
import { navigate } from "../route/history";
import { sessionTitle, useHostData } from "../shared/host-data";
import { useHost, useHostFreshness } from "../shared/host-queries";
import { PageHeader } from "../shared/PageHeader";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useSessions } from "../shared/sessions";
import { useDrafts } from "../shared/use-drafts";
import { useTitle } from "../shared/use-title";

/** How many sessions of a project are offered. */
const shown = 4;

/**
 * Chooses the session for content that another app shared, or a new session. The content becomes a draft; nothing is
 * sent.
 */
export function SharePage() {
  const shared = sharedText(Object.fromEntries(useSearchParams()));
  const devices = useReadable(useScorel().devices);
  const usable = devices?.filter(({ revoked, problem }) => !revoked && !problem);
  const title = shared ? t("share.sharePage.addToASession") : t("share.sharePage.newSession");
  useTitle(title);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHeader title={title} back="/" />
      <main className="safe-x min-h-0 flex-1 overflow-y-auto py-5">
        <div className="mx-auto max-w-2xl space-y-4">
          {shared ? (
            <section aria-label={t("share.sharePage.sharedText")}>
              <p
                dir="auto"
                data-testid="shared-text"
                className="line-clamp-6 whitespace-pre-wrap break-words rounded-md bg-sunken px-3.5 py-2.5 text-sm [overflow-wrap:anywhere]"
              >
                {shared}
              </p>
              <p className="mt-2 text-muted text-sm">{t("share.sharePage.becomesADraft")}</p>
            </section>
          ) : null}
          {usable === undefined ? <Skeleton label={t("share.sharePage.loading")} rows={4} /> : null}
          {usable?.length === 0 ? (
            <EmptyState icon={<MachineIcon />} title={t("share.sharePage.noMachine")}>
              {t("share.sharePage.pairFirst")}
            </EmptyState>
          ) : null}
          {usable?.map((device) => (
            <Targets key={device.id} device={device} shared={shared} />
          ))}
        </div>
      </main>
    </div>
  );
}

/** Returns the content passed to the share target, as one text. */
export function sharedText({ title, text, url }: { title?: string; text?: string; url?: string }): string {
  const parts = [title, text, url].map((part) => part?.trim() ?? "").filter(Boolean);
  // Apps repeat the address in the text or in the title.
  const own = parts.filter(
    (part, i) => !parts.some((other, j) => j !== i && (other !== part || j < i) && other.includes(part)),
  );
  return own.join("\n").slice(0, MAX_PROMPT);
}

interface TargetsProps {
  device: Device;
  shared: string;
}

function Targets({ device, shared }: TargetsProps) {
  const host = useHost(device.id);
  useHostFreshness(host);
  const { projects } = useHostData(host);
  return (
    <section aria-label={device.label} data-testid="share-device">
      <h2 dir="auto" className="mb-1.5 truncate font-medium text-sm">
        {device.label}
      </h2>
      {projects === null ? (
        <p className="text-faint text-sm">{t("share.sharePage.notReachable")}</p>
      ) : projects.length === 0 ? (
        <p className="text-faint text-sm">{t("share.sharePage.noProjects")}</p>
      ) : (
        <div className="space-y-2">
          {projects.map((project) => (
            <ProjectTargets key={project.id} device={device} project={project} shared={shared} />
          ))}
        </div>
      )}
    </section>
  );
}

function ProjectTargets({ device, project, shared }: TargetsProps & { project: Project }) {
  const host = useHost(device.id);
  const { sessions } = useSessions(host, project.id);
  const closed = project.missing || project.unavailable !== undefined;
  const drafts = useDrafts();
  const deviceId = device.id;
  const start = async () => {
    await drafts.append(`${deviceId}/new/${project.id}`, shared);
    navigate(address.newSession(deviceId, { project: project.id }), { replace: true });
  };
  const open = async (sessionId: string) => {
    await drafts.append(`${deviceId}/${sessionId}`, shared);
    navigate(address.session(deviceId, sessionId), { replace: true });
  };
  return (
    <Card className="overflow-hidden" data-testid="share-project">
      <div className="flex items-center gap-2 py-2 pr-2 pl-4">
        <FolderIcon className="shrink-0 text-faint" />
        <h3 dir="auto" className="min-w-0 flex-1 truncate font-medium">
          {project.name}
        </h3>
        <Button
          data-testid="share-new"
          disabled={closed}
          aria-label={t("share.sharePage.newSessionIn", { name: project.name })}
          onClick={() => void start()}
        >
          <PlusIcon /> {t("share.sharePage.newSession")}
        </Button>
      </div>
      {shared && !closed && sessions && sessions.length > 0 ? (
        <ul className="divide-y divide-line border-line border-t">
          {sessions.slice(0, shown).map((session) => (
            <li key={session.id}>
              <button
                type="button"
                dir="auto"
                data-testid="share-session"
                onClick={() => void open(session.id)}
                className="touchable w-full truncate px-4 text-left text-sm hover:bg-sunken"
              >
                {sessionTitle(session)}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </Card>
  );
}
