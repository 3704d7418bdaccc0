import { useState } from "react";
import type { Host } from "../../api/contract";
import type { Project } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button, IconButton } from "../../components/Button";
import { Card } from "../../components/Card";
import { FolderIcon, PlusIcon, SettingsIcon } from "../../components/icons";
import { useSessions } from "../shared/sessions";
import { MoreSessions } from "./MoreSessions";
import { SessionRow } from "./SessionRow";

/** How many sessions a project shows before it is asked for all. */
const shown = 6;

export interface ProjectCardProps {
  host: Host;
  project: Project;
  now: number;
  /** False while the device cannot be reached. */
  reachable: boolean;
  creating: boolean;
  onNewSession: () => void;
  /** Opens what belongs to the project: trust, servers, rules. */
  onSettings: () => void;
}

export function ProjectCard(props: ProjectCardProps) {
  const { host, project, now, reachable, creating, onNewSession, onSettings } = props;
  const { sessions, total, more, loadMore } = useSessions(host, project.id);
  const [all, setAll] = useState(false);
  const listed = all ? (sessions ?? []) : (sessions ?? []).slice(0, shown);
  return (
    <Card data-testid="project-row" className="overflow-hidden">
      <div className="flex items-center gap-2 py-2 pr-2 pl-4">
        <FolderIcon className="shrink-0 text-faint" />
        <div className="min-w-0 flex-1">
          <div className="flex items-center gap-2">
            <h2 dir="auto" className="truncate font-medium">
              {project.name}
            </h2>
            {project.missing ? <Badge tone="danger">folder is gone</Badge> : null}
          </div>
          <p className="truncate font-mono text-faint text-xs" title={project.path}>
            {project.path}
          </p>
        </div>
        <IconButton
          label={`Settings of ${project.name}`}
          data-testid="project-settings"
          disabled={!reachable}
          onClick={onSettings}
        >
          <SettingsIcon />
        </IconButton>
        <Button
          data-testid="new-session"
          busy={creating}
          disabled={!reachable || project.missing}
          className="text-accent"
          aria-label={`New session in ${project.name}`}
          onClick={onNewSession}
        >
          {creating ? null : <PlusIcon />} <span className="max-sm:sr-only">New session</span>
        </Button>
      </div>
      {listed.length > 0 ? (
        <ul className="divide-y divide-line border-line border-t">
          {listed.map((session) => (
            <li key={session.id}>
              <SessionRow deviceId={host.deviceId} session={session} now={now} />
            </li>
          ))}
        </ul>
      ) : sessions === null ? null : (
        <p className="border-line border-t px-4 py-3 text-faint text-sm">
          {project.missing
            ? "The folder is not there now. Bring it back, or remove the project."
            : "No session yet. A new one starts the agent in this folder."}
        </p>
      )}
      {all ? (
        <MoreSessions state={more} onMore={loadMore} />
      ) : total > listed.length ? (
        <button
          type="button"
          onClick={() => setAll(true)}
          className="touchable w-full border-line border-t px-4 text-left text-muted text-sm hover:bg-sunken hover:text-ink"
        >
          Show all {total} sessions
        </button>
      ) : null}
    </Card>
  );
}
