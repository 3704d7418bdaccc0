import { useLayoutEffect, useRef } from "react";
import type { Host } from "../../api/contract";
import type { HostInfo, Project } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button, IconButton } from "../../components/Button";
import { Card } from "../../components/Card";
import { FolderIcon, PlusIcon, SettingsIcon } from "../../components/icons";
import { t } from "../../i18n/device";
import { may } from "../shared/grants";
import { useKeptState } from "../shared/kept";
import { useSessions } from "../shared/sessions";
import { MoreSessions } from "./MoreSessions";
import { SessionRow } from "./SessionRow";

/** How many sessions of a project are shown until a person expands the list. */
const shown = 6;

export interface ProjectCardProps {
  host: Host;
  /** null until the host has sent it. */
  info: HostInfo | null;
  project: Project;
  /** Whether to show the archived sessions instead of the others. */
  archived: boolean;
  /** Whether to list all sessions and scroll the project into view. */
  opened: boolean;
  now: number;
  /** Whether the device can be reached. */
  reachable: boolean;
  onNewSession: () => void;
  /** Opens the project's settings: trust, servers, rules. */
  onSettings: () => void;
}

export function ProjectCard(props: ProjectCardProps) {
  const { host, info, project, archived, opened, now, reachable, onNewSession, onSettings } = props;
  const { sessions, total, more, loadMore } = useSessions(host, project.id, archived);
  const [asked, setAll] = useKeptState(`all ${project.id} ${archived}`, false);
  const all = asked || opened;
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (opened) {
      card.current?.scrollIntoView({ block: "start" });
    }
  }, [opened]);
  const listed = all ? (sessions ?? []) : (sessions ?? []).slice(0, shown);
  return (
    <Card ref={card} data-testid="project-row" className="overflow-hidden">
      <div className="flex items-center gap-2 py-2 pr-2 pl-4">
        <FolderIcon className="shrink-0 text-faint" />
        <div className="min-w-0 flex-1">
          <div className="flex items-center gap-2">
            <h2 dir="auto" className="truncate font-medium">
              {project.name}
            </h2>
            {project.missing ? <Badge tone="danger">{t("device.projectCard.folderMissing")}</Badge> : null}
            {project.unavailable ? <Badge tone="danger">{t("device.projectCard.sessionsUnavailable")}</Badge> : null}
          </div>
          <p className="truncate font-mono text-faint text-xs" title={project.path}>
            {project.path}
          </p>
        </div>
        <IconButton
          label={t("device.projectCard.settingsOf", { name: project.name })}
          data-testid="project-settings"
          disabled={!reachable}
          onClick={onSettings}
        >
          <SettingsIcon />
        </IconButton>
        {may(info, "prompt") ? (
          <Button
            data-testid="new-session"
            disabled={project.missing || project.unavailable !== undefined}
            className="text-accent"
            aria-label={t("device.projectCard.newSessionIn", { name: project.name })}
            onClick={onNewSession}
          >
            <PlusIcon /> <span className="max-sm:sr-only">{t("device.projectCard.newSession")}</span>
          </Button>
        ) : null}
      </div>
      {project.unavailable ? (
        <p className="border-line border-t px-4 py-3 text-muted text-sm" data-testid="project-unavailable">
          {t("device.projectCard.unavailable", { reason: project.unavailable })}
        </p>
      ) : null}
      {listed.length > 0 ? (
        <ul className="divide-y divide-line border-line border-t">
          {listed.map((session) => (
            <li key={session.id}>
              <SessionRow host={host} info={info} session={session} now={now} />
            </li>
          ))}
        </ul>
      ) : sessions === null || project.unavailable ? null : (
        <p className="border-line border-t px-4 py-3 text-faint text-sm">
          {project.missing
            ? t("device.projectCard.folderMissingExplained")
            : archived
              ? t("device.projectCard.noArchivedSessions")
              : t("device.projectCard.noSessionsYet")}
        </p>
      )}
      {all ? (
        <MoreSessions state={more} shown={listed.length} onMore={loadMore} />
      ) : total > listed.length ? (
        <button
          type="button"
          onClick={() => setAll(true)}
          className="touchable w-full border-line border-t px-4 text-left text-muted text-sm hover:bg-sunken hover:text-ink"
        >
          {t("device.projectCard.showAll", { total })}
        </button>
      ) : null}
    </Card>
  );
}
