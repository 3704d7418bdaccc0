import { useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Host } from "../../api/contract";
import type { Project } from "../../api/types";
import { Button } from "../../components/Button";
import { ConfirmSheet } from "../../components/ConfirmSheet";
import { FolderIcon, PlusIcon, WarningIcon } from "../../components/icons";
import { EmptyState, Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { ProjectSettings } from "../project/ProjectSettings";
import { SessionSearch } from "../search/SessionSearch";
import { useHost, useHostFreshness } from "../shared/host-queries";
import { PageHeader } from "../shared/PageHeader";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useAnySession } from "../shared/sessions";
import { useNow } from "../shared/time";
import { useTitle } from "../shared/use-title";
import { AddProjectSheet } from "./AddProjectSheet";
import { HostNotice } from "./HostNotice";
import { type HostData, useHostData } from "./host-data";
import { ModelSelect } from "./ModelSelect";
import { useNewSession } from "./new-session";
import { ProjectCard } from "./ProjectCard";
import { UnknownDevice } from "./UnknownDevice";

/** A device: its projects, their sessions, and the ways to more of both. */
export function DevicePage() {
  const { deviceId } = useParams({ from: "/d/$deviceId" });
  const devices = useReadable(useScorel().devices);
  const host = useHost(deviceId);
  const status = useReadable(host.status);
  useHostFreshness(host);
  const data = useHostData(host);
  const device = devices?.find((each) => each.id === deviceId);
  useTitle(device?.label);
  if (devices && !device) return <UnknownDevice />;
  const label = device?.label ?? data.info?.label ?? "the machine";
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHeader
        title={device?.label ?? data.info?.label ?? "Device"}
        back={{ to: "/" }}
        subtitle={subtitleOf(data)}
      />
      <main className="safe-x min-h-0 flex-1 overflow-y-auto py-5">
        <div className="mx-auto max-w-2xl space-y-3">
          {device?.problem ? (
            <Notice tone="danger" icon={<WarningIcon />} title={`${label} cannot be used from here`}>
              {device.problem}
            </Notice>
          ) : (
            <HostNotice status={status} label={label} />
          )}
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

/** A search above the projects, as soon as there is a session to find. */
function Searchable({ host, children }: { host: Host; children: ReactNode }) {
  if (!useAnySession(host)) return children;
  return <SessionSearch host={host}>{children}</SessionSearch>;
}

function subtitleOf({ info }: HostData) {
  return info ? <span className="caption">scorel {info.version}</span> : null;
}

function Projects({ host, data, reachable }: { host: Host; data: HostData; reachable: boolean }) {
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Project | null>(null);
  const [settings, setSettings] = useState<string | null>(null);
  const { projects, info, error } = data;
  const mayManage = info === null || info.grants.includes("manage");
  if (projects === null) {
    if (error) return <Unread error={error} onRetry={data.refetch} />;
    return reachable ? <Skeleton label="Reading the projects" rows={6} /> : null;
  }
  const add = (
    <Button
      data-testid="add-project"
      tone={projects.length === 0 ? "primary" : "secondary"}
      disabled={!reachable || !mayManage}
      onClick={() => setAdding(true)}
    >
      <PlusIcon /> Add a project
    </Button>
  );
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
        <EmptyState icon={<FolderIcon />} title="No project yet" actions={add}>
          Choose a folder on this machine; the agent works in it.
        </EmptyState>
      )}
      {adding ? <AddProjectSheet host={host} onClose={() => setAdding(false)} /> : null}
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
          title={`Remove ${removing.name}?`}
          confirm="Remove"
          onConfirm={async () => void (await host.request("remove_project", { projectId: removing.id }))}
          onClose={() => setRemoving(null)}
        >
          It leaves the list; the folder and its files stay as they are. A project that has sessions cannot be removed.
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
  const [model, setModel] = useState("");
  const { create, busyProject } = useNewSession(host);
  return (
    <>
      <div className="flex items-center justify-between gap-2">
        {data.info ? <ModelSelect info={data.info} value={model} onChange={setModel} /> : <span />}
        {add}
      </div>
      {projects.map((project) => (
        <ProjectCard
          key={project.id}
          host={host}
          project={project}
          now={now}
          reachable={reachable}
          creating={busyProject === project.id}
          onNewSession={() => create(project.id, model)}
          onSettings={() => onSettings(project)}
        />
      ))}
    </>
  );
}

function Unread({ error, onRetry }: { error: string; onRetry: () => void }) {
  return (
    <Notice
      tone="danger"
      icon={<WarningIcon />}
      title="The projects could not be read"
      actions={<Button onClick={onRetry}>Try again</Button>}
    >
      {error}
    </Notice>
  );
}
