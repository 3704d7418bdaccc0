import { useId } from "react";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/project";
import type { AgentFields } from "./agent-draft";

/** The fields with lists of names. */
const nameLists = [
  {
    field: "tools",
    get label() {
      return t("project.agentForm.tools");
    },
    get placeholder() {
      return t("project.agentForm.all");
    },
    get hint() {
      return t("project.agentForm.namesWithCommasAllOr");
    },
  },
  {
    field: "disallowedTools",
    get label() {
      return t("project.agentForm.forbiddenTools");
    },
    get placeholder() {
      return t("project.agentForm.none");
    },
  },
  {
    field: "subagents",
    get label() {
      return t("project.agentForm.subagents");
    },
    get placeholder() {
      return t("project.agentForm.all");
    },
    get hint() {
      return t("project.agentForm.agentsThatItsSessionsMay");
    },
  },
] as const;

export interface AgentFieldsetProps {
  fields: AgentFields;
  /** Whether the description has the focus at first. */
  focus: boolean;
  onChange: (change: Partial<AgentFields>) => void;
}

/** What an agent is, may do and is told. */
export function AgentFieldset({ fields, focus, onChange }: AgentFieldsetProps) {
  const promptId = useId();
  return (
    <>
      <TextField
        label={t("project.agentForm.description")}
        value={fields.description}
        placeholder={t("project.agentForm.itsPurposeInOneLine")}
        data-testid="agent-description"
        autoFocus={focus}
        onChange={(e) => onChange({ description: e.target.value })}
      />
      {nameLists.map(({ field, ...shown }) => (
        <TextField
          key={field}
          mono
          autoCapitalize="off"
          value={fields[field]}
          onChange={(e) => onChange({ [field]: e.target.value })}
          {...shown}
        />
      ))}
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label={t("project.agentForm.turnsPerTask")}
          inputMode="numeric"
          value={fields.maxTurns}
          placeholder="10"
          onChange={(e) => onChange({ maxTurns: e.target.value })}
        />
        <TextField
          label={t("project.agentForm.atOnce")}
          inputMode="numeric"
          value={fields.maxConcurrent}
          placeholder={t("project.agentForm.noLimit")}
          onChange={(e) => onChange({ maxConcurrent: e.target.value })}
        />
      </div>
      <div>
        <label htmlFor={promptId} className="mb-1 block font-medium text-sm">
          {t("project.agentForm.prompt")}
        </label>
        <textarea
          id={promptId}
          dir="auto"
          rows={7}
          value={fields.prompt}
          data-testid="agent-prompt-text"
          placeholder={t("project.agentForm.instructionsForTheAgentIn")}
          onChange={(e) => onChange({ prompt: e.target.value })}
          className="block w-full rounded-md border border-line-strong bg-surface px-3 py-1.5 text-base placeholder:text-faint sm:text-sm"
        />
      </div>
    </>
  );
}
