import type { Host } from "../../api/contract";
import type { HostInfo, Project, SessionSummary } from "../../api/types";
import { sentence } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";

export interface HostData {
  info: HostInfo | null;
  /** null until they are known. */
  projects: Project[] | null;
  /** Of all projects, newest first; null until they are known. */
  sessions: SessionSummary[] | null;
  /** Why something is missing. */
  error: string | null;
  refetch(): void;
}

/** What the pages of a device show. */
export function useHostData(host: Host): HostData {
  const info = useHostQuery(host, "get_host", {});
  const projects = useHostQuery(host, "list_projects", {});
  const sessions = useHostQuery(host, "list_sessions", { projectId: "" });
  const failed = [info, projects, sessions].find((query) => query.error !== null);
  return {
    info: info.data?.host ?? null,
    projects: projects.data?.projects ?? null,
    sessions: sessions.data?.sessions ?? null,
    error: failed ? sentence(failed.error) : null,
    refetch: () => {
      for (const query of [info, projects, sessions]) void query.refetch();
    },
  };
}

/** The sessions of one project, in the order of the list; those that belong to another one are shown in that. */
export function sessionsOf(sessions: SessionSummary[] | null, projectId: string): SessionSummary[] {
  const ids = new Set(sessions?.map((session) => session.id));
  return (
    sessions?.filter((session) => session.projectId === projectId && !ids.has(session.parentSessionId ?? "")) ?? []
  );
}

/** What a session is called in lists. */
export function sessionTitle(session: SessionSummary): string {
  return session.name || "New session";
}
