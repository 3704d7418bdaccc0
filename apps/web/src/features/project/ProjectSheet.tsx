import type { Host } from "../../api/contract";
import type { HostInfo, Project } from "../../api/types";
import { Button } from "../../components/Button";
import { TrashIcon } from "../../components/icons";
import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/project";
import BudgetList from "../budgets/BudgetList";
import ExtensionList from "../extensions/ExtensionList";
import HookList from "../hooks/HookList";
import { Journal } from "../memory/Journal";
import { MemoryList } from "../memory/MemoryList";
import ScheduleList from "../schedules/ScheduleList";
import { mayManageAll } from "../shared/grants";
import { useHostData } from "../shared/host-data";
import { SandboxState } from "../shared/SandboxState";
import { AgentList } from "./AgentList";
import { RuleList } from "./RuleList";
import { ServerList } from "./ServerList";
import { SkillList } from "./SkillList";
import { TranscriptList } from "./TranscriptList";
import { Trust } from "./Trust";

export interface ProjectSheetProps {
  host: Host;
  projectId: string;
  /** Asks whether to remove the project from the list; absent if that is not offered. */
  onRemove?: (project: Project) => void;
  onClose: () => void;
}

/** The settings of a project: trust in its folder, what it runs, agents, notes, schedules, budgets, rules. */
export default function ProjectSheet({ host, projectId, onRemove, onClose }: ProjectSheetProps) {
  const { projects, info } = useHostData(host);
  const project = projects?.find((each) => each.id === projectId);
  if (!project) {
    return null;
  }
  const mayManage = info === null || info.grants.includes("manage");
  return (
    <Sheet title={project.name} onClose={onClose}>
      <div data-testid="project-sheet" className="space-y-6">
        <p className="-mt-1 break-all font-mono text-faint text-xs">{project.path}</p>
        {mayManage ? null : <p className="text-muted text-sm">{t("project.projectSheet.viewOnlyInThisBrowser")}</p>}
        {mayManage ? <Trust host={host} project={project} /> : null}
        {mayManage ? <ServerList host={host} info={info} projectId={projectId} /> : null}
        {mayManageAll(info) ? <ExtensionList host={host} info={info} projectId={projectId} /> : null}
        {mayManage ? <HookList host={host} info={info} projectId={projectId} /> : null}
        <AgentList host={host} project={project} mayManage={mayManage} />
        <SkillList host={host} projectId={projectId} mayManage={mayManage} />
        <MemoryList host={host} projectId={projectId} mayManage={mayManage} />
        <Journal host={host} projectId={projectId} />
        <ScheduleList host={host} info={info} projectId={projectId} />
        <BudgetList host={host} info={info} projectId={projectId} />
        <RuleList host={host} projectId={projectId} mayManage={mayManage} />
        {mayImport(info) ? <TranscriptList host={host} projectId={projectId} /> : null}
        <SandboxState info={info} className="border-line border-t pt-4" />
        {onRemove && mayManage ? (
          <div className="border-line border-t pt-4">
            <Button tone="danger" data-testid="remove-project" onClick={() => onRemove(project)}>
              <TrashIcon /> {t("project.projectSheet.removeFromTheList")}
            </Button>
          </div>
        ) : null}
      </div>
    </Sheet>
  );
}

/** Reports whether this client may read conversations of other agents, which come from all folders. */
function mayImport(info: HostInfo | null): boolean {
  const grants = info?.grants ?? [];
  return grants.includes("manage") && grants.includes("files") && !info?.limits?.projects;
}
