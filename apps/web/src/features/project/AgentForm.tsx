import { useState } from "react";
import type { AgentInfo } from "../../api/types";
import { Button } from "../../components/Button";
import { Select } from "../../components/Select";
import { t } from "../../i18n/project";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { EntryForm } from "../shared/EntryForm";
import { isLimited } from "../shared/grants";
import { useHostData } from "../shared/host-data";
import { useAct } from "../shared/use-act";
import { AgentFieldset } from "./AgentFieldset";
import { fieldsOf } from "./agent-draft";
import { type AgentEdit, type AgentPlace, scopeOf, useAgentEdit } from "./use-agent-edit";

export interface AgentFormProps extends AgentEdit {
  onCancel: () => void;
}

const scopes: { value: AgentPlace; readonly label: string }[] = [
  {
    value: "project",
    get label() {
      return t("project.agentForm.saveForThisProject");
    },
  },
  {
    value: "user",
    get label() {
      return t("project.agentForm.saveForAllProjects");
    },
  },
];

/** Creates or edits an agent. */
export function AgentForm({ onCancel, ...edit }: AgentFormProps) {
  const { host, agent, now } = edit;
  const { info } = useHostData(host);
  const limited = isLimited(info);
  const [name, setName] = useState(agent?.name ?? "");
  const [fields, setFields] = useState(() => fieldsOf(agent));
  const [scope, setScope] = useState(limited ? "project" : scopeOf(agent));
  const [deleting, setDeleting] = useState(false);
  const { busy, error, act } = useAct();
  const { save, remove } = useAgentEdit(edit);
  const set = (change: Partial<typeof fields>) => setFields((before) => ({ ...before, ...change }));
  const models = [
    { value: "", label: t("project.agentForm.sameAsTheSession") },
    ...(info?.models ?? []).map(({ name: model }) => ({ value: model, label: model })),
  ];
  return (
    <EntryForm
      testId="agent"
      isNew={agent === null}
      name={name}
      namePlaceholder={t("project.agentForm.reviewer")}
      onName={setName}
      error={error}
      busy={busy !== null}
      ready={name !== "" && fields.description.trim() !== ""}
      onSave={() => act("save", () => save(scope, name, fields))}
      onCancel={onCancel}
      action={
        now?.version && !(limited && now.scope === "user") ? (
          <Button tone="danger" className="mr-auto" data-testid="agent-delete" onClick={() => setDeleting(true)}>
            {t("project.agentForm.delete")}
          </Button>
        ) : null
      }
    >
      {agent && !busy && !deleting ? <Elsewhere agent={agent} now={now} /> : null}
      <AgentFieldset fields={fields} focus={agent !== null} onChange={set} />
      <div className="flex flex-wrap gap-2">
        <Select
          label={t("project.agentForm.model")}
          value={fields.model}
          options={models}
          onChange={(e) => set({ model: e.target.value })}
        />
        <Select
          label={t("project.agentForm.saveTo")}
          value={scope}
          options={limited ? scopes.slice(0, 1) : scopes}
          onChange={(e) => setScope(e.target.value as AgentPlace)}
        />
      </div>
      {limited ? <p className="text-muted text-sm">{t("project.agentForm.limited")}</p> : null}
      {deleting && now ? (
        <ConfirmSheet
          title={t("project.agentForm.deleteTheAgent", { name: now.name })}
          confirm={t("project.agentForm.delete")}
          onConfirm={() => remove(name)}
          onClose={() => setDeleting(false)}
        >
          <p className="break-all font-mono text-sm">{now.path}</p>
        </ConfirmSheet>
      ) : null}
    </EntryForm>
  );
}

/** Says that others have changed or deleted the agent since editing began. */
function Elsewhere({ agent, now }: { agent: AgentInfo; now: AgentInfo | null }) {
  if (now && now.scope === agent.scope && now.version === agent.version) {
    return null;
  }
  return (
    <p role="alert" data-testid="agent-elsewhere" className="text-sm text-warn">
      {now ? t("project.agentForm.changedElsewhere") : t("project.agentForm.deletedElsewhere")}
    </p>
  );
}
