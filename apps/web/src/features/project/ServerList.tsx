import { useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type HostInfo, type MCPServer } from "../../api/types";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/project";
import { AddButton } from "../shared/AddButton";
import { isRefusal } from "../shared/errors";
import { may } from "../shared/grants";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { useChange } from "../shared/use-change";
import { withHelp } from "../shared/with-help";
import { ServerCard } from "./ServerCard";
import { ServerForm } from "./ServerForm";

export interface ServerListProps {
  host: Host;
  info: HostInfo | null;
  /** If absent, the servers for all projects are shown. */
  projectId?: string;
}

/** Keeps the form of a server that is deleted while it is edited, with the text in it. */
function withEdited(servers: MCPServer[], edited: MCPServer | null): MCPServer[] {
  return !edited || servers.some(({ name }) => name === edited.name) ? servers : [edited, ...servers];
}

/** The MCP servers of a project or of all projects, those that wait for consent first. */
export function ServerList({ host, info, projectId }: ServerListProps) {
  const where = projectId ? { projectId } : {};
  const { data, error, refetch } = useHostQuery(host, "list_mcp_servers", where);
  const { busy, error: refused, done, setDone, change } = useChange(refetch);
  // The edited server, as it was when editing began; "" for a new one.
  const [editing, setEditing] = useState<MCPServer | "" | null>(null);
  if (!projectId && isRefusal(error) && error.kind === ApiKind.bad_request) {
    return null; // an older host
  }
  const mayRun = info?.grants.includes("shell") ?? false;
  const decide = (server: MCPServer, allow: boolean) =>
    change(server.name, async () => {
      const { name, hash = "" } = server;
      await host.request("decide_mcp_server", { projectId: projectId ?? "", name, hash, allow });
      return allow ? t("project.serverList.allowed", { name }) : t("project.serverList.denied", { name });
    });
  const toggle = ({ name }: MCPServer, enabled: boolean) =>
    change(name, async () => {
      await host.request("set_mcp_server_enabled", { ...where, name, enabled });
      return enabled ? t("project.serverList.enabled", { name }) : t("project.serverList.disabled", { name });
    });
  const edit = (server: MCPServer | "") => {
    setDone(null);
    setEditing(server);
  };
  const said = async (what: string) => {
    await refetch();
    setDone(what);
  };
  const form = (server: MCPServer | null) => (
    <ServerForm
      host={host}
      server={server}
      {...where}
      onDone={async (what) => {
        await refetch();
        setEditing(null);
        setDone(what);
      }}
      onCancel={() => setEditing(null)}
    />
  );
  const waits = (server: MCPServer) => (server.state === "needs_consent" ? 0 : 1);
  const edited = editing || null;
  const servers = data && withEdited(data.servers, edited).toSorted((a, b) => waits(a) - waits(b));
  return (
    <Section title={t("project.serverList.mcpServers")} error={refused ?? (error ? withHelp(error) : null)} done={done}>
      <p className="mt-1 text-muted text-sm">
        {projectId ? t("project.serverList.ofTheProject") : t("project.serverList.ofAllProjects")}
      </p>
      {data?.problems?.map((problem) => (
        <p key={problem} className="mt-1 break-words text-danger text-sm">
          {problem}
        </p>
      ))}
      {servers ? (
        <ul className="mt-2 space-y-2">
          {servers.map((server) => (
            <li key={server.name}>
              {edited?.name === server.name ? (
                form(edited)
              ) : (
                <ServerCard
                  host={host}
                  {...where}
                  server={server}
                  busy={busy === server.name}
                  mayLoosen={may(info, "approve")}
                  onDecide={(allow) => decide(server, allow)}
                  onToggle={(enabled) => toggle(server, enabled)}
                  onEdit={mayRun && server.version ? () => edit(server) : null}
                  onRemoved={said}
                  onSignIn={said}
                />
              )}
            </li>
          ))}
        </ul>
      ) : error ? null : (
        <Skeleton label={t("project.serverList.loadingTheServers")} rows={2} className="mt-2" />
      )}
      {servers?.length === 0 ? <p className="mt-1 text-sm">{t("project.serverList.none")}</p> : null}
      {mayRun ? (
        data ? (
          editing === "" ? (
            form(null)
          ) : (
            <AddButton data-testid="mcp-add" onClick={() => edit("")}>
              {t("project.serverList.add")}
            </AddButton>
          )
        ) : null
      ) : info ? (
        <p className="mt-2 text-muted text-sm">{t("project.serverList.needsShell")}</p>
      ) : null}
    </Section>
  );
}
