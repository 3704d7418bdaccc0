import { useState } from "react";
import type { Project, SessionSummary } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button, IconButton } from "../../components/Button";
import { Card } from "../../components/Card";
import { FolderIcon, PlusIcon, TrashIcon } from "../../components/icons";
import { SessionRow } from "./SessionRow";

/** How many sessions a project shows before it is asked for all. */
const shown = 6;

export interface ProjectCardProps {
  deviceId: string;
  project: Project;
  sessions: SessionSummary[];
  now: number;
  /** False while the device cannot be reached. */
  reachable: boolean;
  creating: boolean;
  onNewSession: () => void;
  onRemove: () => void;
}

export function ProjectCard(props: ProjectCardProps) {
  const { deviceId, project, sessions, now, reachable, creating, onNewSession, onRemove } = props;
  const [all, setAll] = useState(false);
  const listed = all ? sessions : sessions.slice(0, shown);
  return (
    <Card data-testid="project-row" className="overflow-hidden">
      <div className="flex items-center gap-2 py-2 pr-2 pl-4">
        <FolderIcon className="shrink-0 text-faint" />
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-medium">{project.name}</h2>
          <p className="truncate font-mono text-faint text-xs" title={project.path}>
            {project.path}
          </p>
        </div>
        {project.missing ? <Badge tone="danger">folder is gone</Badge> : null}
        <IconButton label={`Remove ${project.name} from the list`} disabled={!reachable} onClick={onRemove}>
          <TrashIcon />
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
              <SessionRow deviceId={deviceId} session={session} now={now} />
            </li>
          ))}
        </ul>
      ) : (
        <p className="border-line border-t px-4 py-3 text-faint text-sm">
          {project.missing
            ? "The folder is not there now. Bring it back, or remove the project."
            : "No session yet. A new one starts the agent in this folder."}
        </p>
      )}
      {sessions.length > listed.length ? (
        <button
          type="button"
          onClick={() => setAll(true)}
          className="touchable w-full border-line border-t px-4 text-left text-muted text-sm hover:bg-sunken hover:text-ink"
        >
          Show all {sessions.length} sessions
        </button>
      ) : null}
    </Card>
  );
}
