import type { Host } from "../../api/contract";
import { ErrorText } from "../../components/ErrorText";
import { ScrollText } from "../../components/ScrollText";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/project";
import { useHostQuery } from "../shared/host-queries";
import { withHelp } from "../shared/with-help";

export interface AgentPreviewProps {
  host: Host;
  projectId: string;
  name: string;
}

/** The instructions that an agent receives with a task. */
export function AgentPreview({ host, projectId, name }: AgentPreviewProps) {
  const { data, error } = useHostQuery(host, "preview_agent", { projectId, name });
  if (error) {
    return <ErrorText>{withHelp(error)}</ErrorText>;
  }
  if (!data) {
    return <Skeleton label={t("project.agentPreview.loadingThePrompt")} rows={4} className="mt-2" />;
  }
  return (
    <div className="mt-1 rounded-md border border-line bg-sunken p-2 text-xs">
      <p className="break-words text-muted">
        {t("project.agentPreview.limits", {
          model: data.model,
          turns: data.maxTurns,
          tools: data.tools.join(", ") || t("project.agentPreview.none"),
        })}
      </p>
      <ScrollText data-testid="agent-prompt" label={t("project.agentPreview.promptOf", { name })} text={data.prompt} />
    </div>
  );
}
