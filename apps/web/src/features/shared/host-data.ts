import type { ReactNode } from "react";
import type { Host } from "../../api/contract";
import type { HostInfo, Project, SessionSummary } from "../../api/types";
import { t } from "../../i18n/device";
import { useHostQuery } from "./host-queries";
import { withHelp } from "./with-help";

export interface HostData {
  info: HostInfo | null;
  /** null until known. */
  projects: Project[] | null;
  /** Why something could not be loaded. */
  error: ReactNode;
  refetch(): void;
}

/** The data that the pages of a device show. */
export function useHostData(host: Host): HostData {
  const info = useHostQuery(host, "get_host", {});
  const projects = useHostQuery(host, "list_projects", {});
  const failed = [info, projects].find((query) => query.error !== null);
  return {
    info: info.data?.host ?? null,
    projects: projects.data?.projects ?? null,
    error: failed ? withHelp(failed.error) : null,
    refetch: () => {
      for (const query of [info, projects]) {
        void query.refetch();
      }
    },
  };
}

/** Returns the title of a session in lists. */
export function sessionTitle(session: SessionSummary): string {
  return session.name || t("device.hostData.newSession");
}
