import type { Host } from "../../api/contract";
import type { AgentInfo, AgentScope, Project } from "../../api/types";
import { t } from "../../i18n/project";
import { type AgentFields, draftOf } from "./agent-draft";

/** Where an agent is stored: with the project, or with the user's, for all projects. */
export type AgentPlace = Exclude<AgentScope, "builtin">;

export interface AgentEdit {
  host: Host;
  project: Project;
  /** As it was when editing began; null for a new one. */
  agent: AgentInfo | null;
  /** As it is now; null if there is none. */
  now: AgentInfo | null;
  /** Called with the result, in words. */
  onDone: (what: string) => Promise<unknown>;
}

/** Returns the requests that store and delete an agent. The host validates what is stored. */
export function useAgentEdit({ host, project, agent, now, onDone }: AgentEdit) {
  const where = (scope: AgentPlace) => (scope === "user" ? { scope } : { scope, projectId: project.id });
  return {
    // A change by others is shown in the form, so what is saved replaces the current version.
    save: async (scope: AgentPlace, name: string, fields: AgentFields) => {
      const version = now?.scope === scope && now.version ? { version: now.version } : {};
      await host.request("save_agent", { ...where(scope), name, ...version, agent: draftOf(fields, agent) });
      await onDone(t("project.agentForm.saved", { name }));
    },
    remove: async (name: string) => {
      if (now?.version) {
        await host.request("delete_agent", { ...where(scopeOf(now)), name, version: now.version });
      }
      await onDone(t("project.agentForm.deleted", { name }));
    },
  };
}

/** Returns where an agent is stored. */
export function scopeOf(agent: AgentInfo | null): AgentPlace {
  return agent?.scope === "user" ? "user" : "project";
}
