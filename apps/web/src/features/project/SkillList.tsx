import { useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type Skill } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { ScrollText } from "../../components/ScrollText";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/project";
import { isRefusal, sentence } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";
import { Notes } from "./Notes";
import { Section } from "./Section";

/** The skills of a project: what each is for and where it comes from, and the files that were left out. */
export function SkillList({ host, projectId }: { host: Host; projectId: string }) {
  const { data, error } = useHostQuery(host, "list_skills", { projectId });
  if (isRefusal(error) && error.kind === ApiKind.unknown_request) {
    return null; // an older host
  }
  return (
    <Section title={t("project.skillList.skills")} error={error ? sentence(error) : null}>
      <p className="mt-1 text-muted text-sm">{t("project.skillList.explanation")}</p>
      {data || error ? null : <Skeleton label={t("project.skillList.loading")} rows={2} className="mt-2" />}
      {data?.skills.length === 0 ? <p className="mt-2 text-sm">{t("project.skillList.none")}</p> : null}
      <ul className="mt-2 divide-y divide-line">
        {data?.skills.map((skill) => (
          <li key={skill.name} data-testid="skill" className="py-2.5">
            <SkillRow host={host} projectId={projectId} skill={skill} />
          </li>
        ))}
      </ul>
      <Notes notes={data?.notes} testId="skill-notes" />
    </Section>
  );
}

interface SkillRowProps {
  host: Host;
  projectId: string;
  skill: Skill;
}

function SkillRow({ host, projectId, skill }: SkillRowProps) {
  const { name, description, scope, manual, path } = skill;
  const [shown, setShown] = useState(false);
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
        <span className="min-w-0 font-medium font-mono text-sm [overflow-wrap:anywhere]">/{name}</span>
        <span className="text-faint text-xs">
          {scope === "project" ? t("project.agentList.thisProject") : t("project.agentList.allProjects")}
        </span>
        {manual ? <Badge>{t("project.skillList.manual")}</Badge> : null}
      </div>
      <p dir="auto" className="mt-0.5 line-clamp-3 break-words text-muted text-sm">
        {description}
      </p>
      {path ? (
        <>
          <p className="mt-0.5 break-all font-mono text-faint text-xs">{path}</p>
          <Button
            tone="quiet"
            className="-ml-3 mt-1 text-xs"
            data-testid="skill-show"
            aria-expanded={shown}
            aria-label={shown ? t("project.skillList.hideSkill", { name }) : t("project.skillList.showSkill", { name })}
            onClick={() => setShown(!shown)}
          >
            {shown ? t("project.skillList.hide") : t("project.skillList.show")}
          </Button>
        </>
      ) : null}
      {shown ? <SkillText host={host} projectId={projectId} name={name} /> : null}
    </>
  );
}

/** What a skill tells the agent. */
function SkillText({ host, projectId, name }: { host: Host; projectId: string; name: string }) {
  const { data, error } = useHostQuery(host, "get_skill", { projectId, name });
  if (error) {
    return (
      <p role="alert" className="text-danger text-sm">
        {sentence(error)}
      </p>
    );
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
