import { useState } from "react";
import type { Host } from "../../api/contract";
import type { AgentInfo, Project } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/project";
import { AddButton } from "../shared/AddButton";
import { isLimited } from "../shared/grants";
import { useHostData } from "../shared/host-data";
import { useHostQuery } from "../shared/host-queries";
import { useLostFocus } from "../shared/lost-focus";
import { Section } from "../shared/Section";
import { useAct } from "../shared/use-act";
import { useStartSession } from "../shared/use-start-session";
import { withHelp } from "../shared/with-help";
import { AgentForm } from "./AgentForm";
import { AgentPreview } from "./AgentPreview";
import { Notes } from "./Notes";

export interface AgentListProps {
  host: Host;
  project: Project;
  mayManage: boolean;
}

const scopes: Record<AgentInfo["scope"], string> = {
  get project() {
    return t("project.agentList.thisProject");
  },
  get user() {
    return t("project.agentList.allProjects");
  },
  get builtin() {
    return t("project.agentList.builtIn");
  },
};

/** The agents of a project: their purpose, whether they are enabled, and their definitions. */
export function AgentList({ host, project, mayManage }: AgentListProps) {
  const { data, error, refetch } = useHostQuery(host, "list_agents", { projectId: project.id });
  const { busy, error: refused, act } = useAct();
  const limited = isLimited(useHostData(host).info);
  // The edited agent as it was before; "new" for a new one.
  const [editing, setEditing] = useState<AgentInfo | "new" | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const edit = (what: AgentInfo | "new") => {
    setSaid(null);
    setEditing(what);
  };
  const done = async (what: string) => {
    await refetch();
    setEditing(null);
    setSaid(what);
  };
  const toggle = ({ name, scope, version, ...info }: AgentInfo) =>
    act(name, async () => {
      setSaid(null);
      const { path: _, offered: __, ...draft } = info;
      const at = scope === "user" ? { scope } : { scope: "project" as const, projectId: project.id };
      await host.request("save_agent", {
        ...at,
        name,
        ...(version ? { version } : {}),
        agent: { ...draft, enabled: !info.enabled },
      });
      await refetch();
      setSaid(
        info.enabled ? t("project.agentList.nowDisabled", { name }) : t("project.agentList.nowEnabled", { name }),
      );
    });
  const edited = editing === "new" ? null : editing;
  const agents = data?.agents ?? [];
  // What is being edited stays, also if the agent was deleted elsewhere.
  const rows = edited && !agents.some(({ name }) => name === edited.name) ? [...agents, edited] : agents;
  return (
    <Section title={t("project.agentList.agents")} error={refused ?? (error ? withHelp(error) : null)} done={said}>
      <p className="mt-1 text-muted text-sm">{t("project.agentList.sessionsDelegateTasksToThese")}</p>
      {limited && mayManage ? <p className="mt-1 text-muted text-sm">{t("project.agentList.limited")}</p> : null}
      {data ? null : error ? null : (
        <Skeleton label={t("project.agentList.loadingTheAgents")} rows={3} className="mt-2" />
      )}
      <ul className="mt-2 divide-y divide-line">
        {rows.map((agent) => (
          <li key={agent.name} data-testid="agent" className="py-2.5">
            {edited?.name === agent.name ? (
              <AgentForm
                host={host}
                project={project}
                agent={edited}
                now={agents.includes(agent) ? agent : null}
                onDone={done}
                onCancel={() => setEditing(null)}
              />
            ) : (
              <AgentRow
                host={host}
                project={project}
                agent={agent}
                busy={busy === agent.name}
                onEdit={mayManage ? () => edit(agent) : null}
                onToggle={mayManage && !(limited && agent.scope === "user") ? () => toggle(agent) : null}
              />
            )}
          </li>
        ))}
      </ul>
      <Notes notes={data?.notes} testId="agent-notes" />
      {mayManage && editing === "new" ? (
        <AgentForm
          host={host}
          project={project}
          agent={null}
          now={null}
          onDone={done}
          onCancel={() => setEditing(null)}
        />
      ) : null}
      {mayManage && editing !== "new" ? (
        <AddButton data-testid="new-agent" onClick={() => edit("new")}>
          {t("project.agentList.newAgent")}
        </AddButton>
      ) : null}
    </Section>
  );
}

interface AgentRowProps {
  host: Host;
  project: Project;
  agent: AgentInfo;
  busy: boolean;
  onEdit: (() => void) | null;
  onToggle: (() => void) | null;
}

function AgentRow({ host, project, agent, busy, onEdit, onToggle }: AgentRowProps) {
  const [preview, setPreview] = useState(false);
  const start = useStartSession(host);
  const { name } = agent;
  const first = useLostFocus<HTMLButtonElement>();
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
        <span className="font-medium text-sm">{agent.name}</span>
        <span className="text-faint text-xs">{scopes[agent.scope]}</span>
        {agent.enabled ? null : <Badge>{t("project.agentList.disabled")}</Badge>}
        {agent.enabled && !agent.offered ? <Badge tone="warn">{t("project.agentList.offInConfigToml")}</Badge> : null}
      </div>
      <p dir="auto" className="mt-0.5 line-clamp-3 break-words text-muted text-sm">
        {agent.description}
      </p>
      <p className="mt-0.5 break-words text-faint text-xs [overflow-wrap:anywhere]">{limits(agent)}</p>
      <div className="-ml-3 mt-1 flex flex-wrap gap-x-1">
        {agent.enabled ? (
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="agent-session"
            aria-label={t("project.agentList.newSessionWith", { name })}
            onClick={() => start(project.id, name)}
          >
            {t("project.agentList.newSession")}
          </Button>
        ) : null}
        <Button
          ref={first}
          tone="quiet"
          className="text-xs"
          aria-expanded={preview}
          aria-label={
            preview ? t("project.agentList.hidePreviewOf", { name }) : t("project.agentList.previewOf", { name })
          }
          onClick={() => setPreview(!preview)}
        >
          {preview ? t("project.agentList.hidePreview") : t("project.agentList.preview")}
        </Button>
        {onEdit ? (
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="agent-edit"
            aria-label={t("project.agentList.editAgent", { name })}
            onClick={onEdit}
          >
            {t("project.agentList.edit")}
          </Button>
        ) : null}
        {onToggle ? (
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="agent-toggle"
            aria-label={
              agent.enabled
                ? t("project.agentList.disableAgent", { name })
                : t("project.agentList.enableAgent", { name })
            }
            busy={busy}
            onClick={onToggle}
          >
            {agent.enabled ? t("project.agentList.disable") : t("project.agentList.enable")}
          </Button>
        ) : null}
      </div>
      {preview ? <AgentPreview host={host} projectId={project.id} name={agent.name} /> : null}
    </>
  );
}

/** Returns its tools and limits in one line. */
function limits({ model, tools, maxTurns, maxConcurrent }: AgentInfo): string {
  const said = [
    t("project.agentList.tools", {
      tools: tools ? tools.join(", ") || t("project.agentList.none") : t("project.agentList.all"),
    }),
  ];
  if (model) {
    said.push(t("project.agentList.model", { model }));
  }
  if (maxTurns) {
    said.push(t("project.agentList.atMostTurns", { turns: maxTurns }));
  }
  if (maxConcurrent) {
    said.push(t("project.agentList.atOnce", { count: maxConcurrent }));
  }
  return said.join(" · ");
}
