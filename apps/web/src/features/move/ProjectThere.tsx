import { useEffect } from "react";
import type { Host } from "../../api/contract";
import type { Project } from "../../api/types";
import { Select } from "../../components/Select";
import { t } from "../../i18n/move";
import { useHost, useHostQuery } from "../shared/host-queries";

export interface ProjectThereProps {
  from: Host;
  to: string;
  /** The session's current project. */
  projectId: string;
  chosen: string;
  onChoose: (projectId: string) => void;
}

/** Chooses the project on the other machine: initially the one with the same folder, or with the same name. */
export function ProjectThere({ from, to, projectId, chosen, onChoose }: ProjectThereProps) {
  const there = useHost(to);
  const ours = useHostQuery(from, "list_projects", {}).data?.projects;
  const theirs = useHostQuery(there, "list_projects", {}).data?.projects;
  const here = ours?.find(({ id }) => id === projectId);
  const like = here && theirs ? likeOf(here, theirs) : "";
  useEffect(() => {
    if (chosen === "" && like) {
      onChoose(like);
    }
  }, [chosen, like, onChoose]);
  if (!theirs) {
    return null;
  }
  const options = theirs.map(({ id, name, path }) => ({ value: id, label: `${name} (${path})` }));
  return (
    <div className="mt-4">
      <p className="font-medium text-sm">{t("move.sheet.project")}</p>
      <div className="mt-1.5 flex flex-wrap items-center gap-2">
        {theirs.length > 0 ? (
          <Select
            label={t("move.sheet.project")}
            data-testid="move-project"
            className="max-w-full"
            value={chosen}
            options={chosen ? options : [{ value: "", label: t("move.sheet.chooseProject") }, ...options]}
            onChange={(event) => onChoose(event.target.value)}
          />
        ) : (
          <p className="text-muted text-sm">{t("move.sheet.noProjects")}</p>
        )}
      </div>
    </div>
  );
}

function likeOf(here: Project, theirs: readonly Project[]): string {
  for (const key of ["path", "name"] as const) {
    const found = theirs.filter((each) => each[key] === here[key]);
    if (found[0] && found.length === 1) {
      return found[0].id;
    }
  }
  return "";
}
