import { useState } from "react";
import type { Host } from "../../api/contract";
import type { MCPServer, Project } from "../../api/types";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/project";
import { sentence } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";
import { useAct } from "../shared/use-act";
import { Section } from "./Section";
import { ServerCard } from "./ServerCard";

/** The MCP servers that the project can use, those that wait for an answer first. */
export function ServerList({ host, project }: { host: Host; project: Project }) {
  const { data, error, refetch } = useHostQuery(host, "list_mcp_servers", { projectId: project.id });
  const { busy, error: refused, act } = useAct();
  const [done, setDone] = useState<string | null>(null);
  const decide = (server: MCPServer, allow: boolean) =>
    act(server.name, async () => {
      setDone(null);
      try {
        const fields = { projectId: project.id, name: server.name, hash: server.hash ?? "", allow };
        await host.request("decide_mcp_server", fields);
      } finally {
        await refetch(); // also after a refusal: what is configured may be something else by now
      }
      const { name } = server;
      setDone(allow ? t("project.serverList.allowed", { name }) : t("project.serverList.denied", { name }));
    });
  const waits = (server: MCPServer) => (server.state === "needs_consent" ? 0 : 1);
  const servers = data?.servers.toSorted((a, b) => waits(a) - waits(b));
  return (
    <Section title={t("project.serverList.mcpServers")} error={refused ?? (error ? sentence(error) : null)} done={done}>
      {data?.problems?.map((problem) => (
        <p key={problem} className="mt-1 break-words text-danger text-sm">
          {problem}
        </p>
      ))}
      {servers ? (
        <ul className="mt-2 space-y-2">
          {servers.map((server) => (
            <li key={server.name}>
              <ServerCard server={server} busy={busy === server.name} onDecide={(allow) => decide(server, allow)} />
            </li>
          ))}
        </ul>
      ) : error ? null : (
        <Skeleton label={t("project.serverList.loadingTheServers")} rows={2} className="mt-2" />
      )}
      {servers?.length === 0 ? (
        <p className="mt-1 text-muted text-sm">{t("project.serverList.noneTheFolderSMcp")}</p>
      ) : null}
    </Section>
  );
}
