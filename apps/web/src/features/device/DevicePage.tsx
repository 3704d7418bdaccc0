import { lazy, type ReactNode, useRef, useState } from "react";
import { Link, useParams } from "wouter";
import type { Host } from "../../api/contract";
import type { HostInfo, Project } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { cx } from "../../components/cx";
import { FolderIcon, PlusIcon, SettingsIcon, ShieldIcon, TerminalIcon, WarningIcon } from "../../components/icons";
import { EmptyState, Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/device";
import { ProjectSettings } from "../project/ProjectSettings";
import { address, idIn, type paths } from "../route/address";
import { useSearchParams } from "../route/entry";
import { SessionSearch } from "../search/SessionSearch";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { may, mayManageAll } from "../shared/grants";
import { type HostData, useHostData } from "../shared/host-data";
import { useHost, useHostFreshness } from "../shared/host-queries";
import { useKeptScroll } from "../shared/kept";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";
import { PageHeader } from "../shared/PageHeader";
import { useSavedAt } from "../shared/recall";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useAnySession } from "../shared/sessions";
import { useNow } from "../shared/time";
import { useStartSession } from "../shared/use-start-session";
import { useTitle } from "../shared/use-title";
import { WaitingList } from "../status/WaitingList";
import { HostNotice } from "./HostNotice";
import { OwnAccess } from "./OwnAccess";
import { ProjectCard } from "./ProjectCard";
import { UnknownDevice } from "./UnknownDevice";

const AccessSheet = lazy(chunk(async () => ({ default: (await import("../access/AccessSheet")).AccessSheet })));
const MachineSheet = lazy(chunk(async () => ({ default: (await import("../machine/MachineSheet")).MachineSheet })));
const AddProjectSheet = lazy(chunk(async () => ({ default: (await import("./AddProjectSheet")).AddProjectSheet })));

/** A device: its projects, their sessions, and buttons to add both. */
export function DevicePage() {
  const { deviceId } = useParams<typeof paths.machine>();
  const devices = useReadable(useScorel().devices);
  const host = useHost(deviceId);
  const status = useReadable(host.status);
  useHostFreshness(host);
  const savedAt = useSavedAt(host);
  const box = useRef<HTMLElement>(null);
  useKeptScroll(box, deviceId);
  const data = useHostData(host);
  const device = devices?.find((each) => each.id === deviceId);
  useTitle(device?.label);
  if (devices && !device) {
    return <UnknownDevice />;
  }
  const label = device?.label ?? data.info?.label ?? t("device.devicePage.theMachine");
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHeader
        title={device?.label ?? data.info?.label ?? t("device.devicePage.machine")}
        back="/"
        subtitle={subtitleOf(data)}
        actions={
          <>
            <Link
              to={address.terminals(deviceId)}
              data-testid="open-terminals"
              aria-label={t("device.devicePage.terminal")}
              title={t("device.devicePage.terminal")}
              className="touchable grid aspect-square shrink-0 place-items-center rounded-md text-muted text-xl hover:bg-sunken hover:text-ink"
            >
              <TerminalIcon />
            </Link>
            {may(data.info, "manage") ? <Access host={host} machine={label} /> : null}
            <MachineSettings host={host} machine={label} info={data.info} />
          </>
        }
      />
      <main key={deviceId} ref={box} className="safe-x min-h-0 flex-1 overflow-y-auto py-5">
        <div className="mx-auto max-w-2xl space-y-3">
          {device?.problem ? (
            <Notice tone="danger" icon={<WarningIcon />} title={t("device.devicePage.cannotBeUsed", { label })}>
              {device.problem}
            </Notice>
          ) : (
            <HostNotice status={status} label={label} savedAt={savedAt} />
          )}
          {status === "open" && data.info ? <OwnAccess info={data.info} /> : null}
          <WaitingList deviceId={deviceId} removed={status === "revoked"} />
          {status === "revoked" ? null : (
            <Searchable host={host}>
              <Projects host={host} data={data} reachable={status === "open"} />
            </Searchable>
          )}
        </div>
      </main>
    </div>
  );
}

function Access({ host, machine }: { host: Host; machine: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton label={t("device.devicePage.access")} data-testid="access" onClick={() => setOpen(true)}>
        <ShieldIcon />
      </IconButton>
      <LazyPart onClose={() => setOpen(false)}>
        {open ? <AccessSheet host={host} machine={machine} onClose={() => setOpen(false)} /> : null}
      </LazyPart>
    </>
  );
}

function MachineSettings({ host, machine, info }: { host: Host; machine: string; info: HostInfo | null }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <IconButton label={t("device.devicePage.settings")} data-testid="machine-settings" onClick={() => setOpen(true)}>
        <SettingsIcon />
      </IconButton>
      <LazyPart onClose={() => setOpen(false)}>
        {open ? <MachineSheet host={host} machine={machine} info={info} onClose={() => setOpen(false)} /> : null}
      </LazyPart>
    </>
  );
}

/** Shows a search above the projects, once there is a session to find. */
function Searchable({ host, children }: { host: Host; children: ReactNode }) {
  if (!useAnySession(host)) {
    return children;
  }
  return <SessionSearch host={host}>{children}</SessionSearch>;
}

function subtitleOf({ info }: HostData) {
  return info ? <span className="caption">{t("device.devicePage.version", { version: info.version })}</span> : null;
}

function Projects({ host, data, reachable }: { host: Host; data: HostData; reachable: boolean }) {
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Project | null>(null);
  const [settings, setSettings] = useState<string | null>(null);
  const { projects, info, error } = data;
  const mayAdd = mayManageAll(info);
  if (projects === null) {
    if (error) {
      return <Unread error={error} onRetry={data.refetch} />;
    }
    return reachable ? <Skeleton label={t("device.devicePage.loadingTheProjects")} rows={6} /> : null;
  }
  const add = mayAdd ? (
    <Button
      data-testid="add-project"
      tone={projects.length === 0 ? "primary" : "secondary"}
      disabled={!reachable}
      onClick={() => setAdding(true)}
    >
      <PlusIcon /> {t("device.devicePage.addAProject")}
    </Button>
  ) : null;
  return (
    <>
      {projects.length > 0 ? (
        <ProjectList
          host={host}
          data={data}
          projects={projects}
          reachable={reachable}
          add={add}
          onSettings={(project) => setSettings(project.id)}
        />
      ) : (
        <EmptyState icon={<FolderIcon />} title={t("device.devicePage.noProjectsYet")} actions={add}>
          {mayAdd ? t("device.devicePage.chooseAFolder") : null}
        </EmptyState>
      )}
      <LazyPart onClose={() => setAdding(false)}>
        {adding ? <AddProjectSheet host={host} onClose={() => setAdding(false)} /> : null}
      </LazyPart>
      {settings ? (
        <ProjectSettings
          host={host}
          projectId={settings}
          onRemove={(project) => {
            setSettings(null);
            setRemoving(project);
          }}
          onClose={() => setSettings(null)}
        />
      ) : null}
      {removing ? (
        <ConfirmSheet
          title={t("device.devicePage.removeTitle", { name: removing.name })}
          confirm={t("device.devicePage.remove")}
          onConfirm={async () => void (await host.request("remove_project", { projectId: removing.id }))}
          onClose={() => setRemoving(null)}
        >
          {t("device.devicePage.removeExplained")}
        </ConfirmSheet>
      ) : null}
    </>
  );
}

interface ProjectListProps {
  host: Host;
  data: HostData;
  projects: Project[];
  reachable: boolean;
  /** The button that adds one. */
  add: ReactNode;
  onSettings: (project: Project) => void;
}

function ProjectList({ host, data, projects, reachable, add, onSettings }: ProjectListProps) {
  const now = useNow(30_000);
  const params = useSearchParams();
  const archived = params.get("archived") === "true";
  const opened = idIn(params, "project");
  const start = useStartSession(host);
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <ArchiveFilter deviceId={host.deviceId} archived={archived} />
        {add}
      </div>
      {projects.map((project) => (
        <ProjectCard
          key={`${project.id} ${archived}`}
          host={host}
          info={data.info}
          project={project}
          archived={archived}
          opened={project.id === opened}
          now={now}
          reachable={reachable}
          onNewSession={() => start(project.id)}
          onSettings={() => onSettings(project)}
        />
      ))}
    </>
  );
}

/** Switches between archived and other sessions. */
function ArchiveFilter({ deviceId, archived }: { deviceId: string; archived: boolean }) {
  const tab = (label: string, search: { archived?: boolean }, current: boolean) => (
    <Link
      to={address.machine(deviceId, search)}
      replace
      aria-current={current ? "true" : undefined}
      className={cx(
        "touchable inline-flex items-center rounded-sm px-3 text-sm",
        current
          ? "bg-surface font-medium text-ink shadow-[inset_0_0_0_1px_var(--c-line)]"
          : "text-muted hover:text-ink",
      )}
    >
      {label}
    </Link>
  );
  return (
    <nav
      aria-label={t("device.devicePage.filterSessions")}
      data-testid="session-filter"
      className="inline-flex gap-0.5 rounded-md bg-sunken p-0.5"
    >
      {tab(t("device.devicePage.active"), {}, !archived)}
      {tab(t("device.devicePage.archived"), { archived: true }, archived)}
    </nav>
  );
}

function Unread({ error, onRetry }: { error: ReactNode; onRetry: () => void }) {
  return (
    <Notice
      tone="danger"
      icon={<WarningIcon />}
      title={t("device.devicePage.projectsNotLoaded")}
      actions={<Button onClick={onRetry}>{t("device.devicePage.tryAgain")}</Button>}
    >
      {error}
    </Notice>
  );
}
