import { useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type Skill } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { ScrollText } from "../../components/ScrollText";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/project";
import { isRefusal } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { useChange } from "../shared/use-change";
import { withHelp } from "../shared/with-help";
import { Notes } from "./Notes";

export interface SkillListProps {
  host: Host;
  /** If absent, the user's own skills for all projects are shown. */
  projectId?: string;
  mayManage: boolean;
}

/** Skills: their purpose and source, whether they are enabled, and the skipped files. */
export function SkillList({ host, projectId, mayManage }: SkillListProps) {
  const where = projectId ? { projectId } : {};
  const { data, error, refetch } = useHostQuery(host, "list_skills", where);
  const { busy, error: refused, done, change } = useChange(refetch);
  const old = projectId ? ApiKind.unknown_request : ApiKind.bad_request;
  if (isRefusal(error) && error.kind === old) {
    return null; // an older host
  }
  const toggle = ({ name, disabled = false }: Skill) =>
    change(name, async () => {
      await host.request("set_skill_enabled", { ...where, name, enabled: disabled });
      return disabled ? t("project.skillList.enabled", { name }) : t("project.skillList.disabled", { name });
    });
  return (
    <Section title={t("project.skillList.skills")} error={refused ?? (error ? withHelp(error) : null)} done={done}>
      <p className="mt-1 text-muted text-sm">
        {projectId ? t("project.skillList.explanation") : t("project.skillList.ofAllProjects")}
      </p>
      {data || error ? null : <Skeleton label={t("project.skillList.loading")} rows={2} className="mt-2" />}
      {data?.skills.length === 0 ? (
        <p className="mt-2 text-sm">{projectId ? t("project.skillList.none") : t("project.skillList.noneOfYours")}</p>
      ) : null}
      <ul className="mt-2 divide-y divide-line">
        {data?.skills.map((skill) => (
          <li key={skill.name} data-testid="skill" className="py-2.5">
            <SkillRow
              host={host}
              {...where}
              skill={skill}
              busy={busy === skill.name}
              onToggle={mayManage ? () => toggle(skill) : null}
            />
          </li>
        ))}
      </ul>
      <Notes notes={data?.notes} testId="skill-notes" />
    </Section>
  );
}

interface SkillRowProps {
  host: Host;
  projectId?: string;
  skill: Skill;
  busy: boolean;
  onToggle: (() => void) | null;
}

function SkillRow({ host, projectId, skill, busy, onToggle }: SkillRowProps) {
  const { name, description, scope, manual, path, disabled } = skill;
  const [shown, setShown] = useState(false);
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
        <span className="min-w-0 font-medium font-mono text-sm [overflow-wrap:anywhere]">/{name}</span>
        <span className="text-faint text-xs">
          {scope === "project" ? t("project.agentList.thisProject") : t("project.agentList.allProjects")}
        </span>
        {disabled ? <Badge>{t("project.agentList.disabled")}</Badge> : null}
        {manual ? <Badge>{t("project.skillList.manual")}</Badge> : null}
      </div>
      <p dir="auto" className="mt-0.5 line-clamp-3 break-words text-muted text-sm">
        {description}
      </p>
      {path ? <p className="mt-0.5 break-all font-mono text-faint text-xs">{path}</p> : null}
      <div className="-ml-3 mt-1 flex flex-wrap gap-x-1 empty:hidden">
        {path ? (
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="skill-show"
            aria-expanded={shown}
            aria-label={shown ? t("project.skillList.hideSkill", { name }) : t("project.skillList.showSkill", { name })}
            onClick={() => setShown(!shown)}
          >
            {shown ? t("project.skillList.hide") : t("project.skillList.show")}
          </Button>
        ) : null}
        {onToggle ? (
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="skill-toggle"
            aria-label={
              disabled ? t("project.skillList.enableSkill", { name }) : t("project.skillList.disableSkill", { name })
            }
            busy={busy}
            onClick={onToggle}
          >
            {disabled ? t("project.agentList.enable") : t("project.agentList.disable")}
          </Button>
        ) : null}
      </div>
      {shown ? <SkillText host={host} {...(projectId ? { projectId } : {})} name={name} /> : null}
    </>
  );
}

/** The instructions of a skill. */
function SkillText({ host, projectId, name }: { host: Host; projectId?: string; name: string }) {
  const { data, error } = useHostQuery(host, "get_skill", { ...(projectId ? { projectId } : {}), name });
  if (error) {
    return <ErrorText>{withHelp(error)}</ErrorText>;
  }
  if (!data) {
    return <Skeleton label={t("project.skillList.loadingText")} rows={3} className="mt-2" />;
  }
  return (
    <ScrollText
      data-testid="skill-text"
      label={t("project.skillList.text", { name })}
      text={data.text}
      className="rounded-md border border-line bg-sunken p-2"
    />
  );
}
