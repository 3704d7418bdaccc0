import { useState } from "react";
import type { Host } from "../../api/contract";
import type { HostInfo, MCPServer } from "../../api/types";
import { Button } from "../../components/Button";
import { ShieldIcon } from "../../components/icons";
import { Notice } from "../../components/Notice";
import { t } from "../../i18n/project";
import { useHostQuery } from "../shared/host-queries";
import { ProjectSettings } from "./ProjectSettings";

export interface ServersWaitProps {
  host: Host;
  info: HostInfo;
  projectId: string;
}

/** Shows in a session that servers of its project wait for consent, with a link to them. */
export default function ServersWait(props: ServersWaitProps) {
  return props.info.grants.includes("manage") ? <Waiting {...props} /> : null;
}

function Waiting({ host, projectId }: ServersWaitProps) {
  const { data } = useHostQuery(host, "list_mcp_servers", { projectId });
  const [open, setOpen] = useState(false);
  const waiting = data?.servers.filter(({ state }) => state === "needs_consent" || state === "untrusted") ?? [];
  const question = waiting.map((server) => `${server.state} ${server.hash}`).join(" ");
  const [left, leave] = useLeft(`scorel.servers/${host.deviceId}/${projectId}`);
  return (
    <>
      {question !== "" && left !== question ? (
        <div className="safe-x mx-auto w-full max-w-3xl shrink-0 pb-1">
          <Notice
            data-testid="servers-wait"
            tone="warn"
            icon={<ShieldIcon />}
            title={titleOf(waiting)}
            actions={
              <>
                <Button tone="primary" data-testid="servers-look" onClick={() => setOpen(true)}>
                  {t("project.serversWait.review")}
                </Button>
                <Button tone="quiet" onClick={() => leave(question)}>
                  {t("project.serversWait.notNow")}
                </Button>
              </>
            }
          >
            {t("project.serversWait.nothingRunsUntilYouApprove")}
          </Notice>
        </div>
      ) : null}
      {open ? <ProjectSettings host={host} projectId={projectId} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function titleOf(waiting: MCPServer[]): string {
  const names = waiting.map((server) => server.name);
  const list =
    names.length > 3
      ? t("project.serversWait.andMore", { names: names.slice(0, 2).join(", "), count: names.length - 2 })
      : names.join(", ");
  const what = names.length === 1 ? t("project.serversWait.anMcpServer") : t("project.serversWait.mcpServers");
  return t("project.serversWait.thisFolderIncludes", { what, list });
}

/** Stores which questions a person postponed, until this tab is closed. */
function useLeft(key: string): [string, (question: string) => void] {
  const [left, setLeft] = useState(() => sessionStorage.getItem(key) ?? "");
  const leave = (question: string) => {
    sessionStorage.setItem(key, question);
    setLeft(question);
  };
  return [left, leave];
}
