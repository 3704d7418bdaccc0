import type { Host } from "../../api/contract";
import { ApiKind, type Skill } from "../../api/types";
import { Badge } from "../../components/Badge";
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
            <SkillRow skill={skill} />
          </li>
        ))}
      </ul>
      <Notes notes={data?.notes} testId="skill-notes" />
    </Section>
  );
}

function SkillRow({ skill: { name, description, scope, manual } }: { skill: Skill }) {
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
    </>
  );
}
