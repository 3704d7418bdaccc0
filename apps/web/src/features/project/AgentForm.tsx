import { useId, useState } from "react";
import type { Host } from "../../api/contract";
import type { AgentDraft, AgentInfo, Project } from "../../api/types";
import { Button } from "../../components/Button";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/project";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { EntryForm } from "../shared/EntryForm";
import { isLimited } from "../shared/grants";
import { useHostData } from "../shared/host-data";
import { useAct } from "../shared/use-act";

export interface AgentFormProps {
  host: Host;
  project: Project;
  /** As it was when editing began; null for a new one. */
  agent: AgentInfo | null;
  /** As it is now; null if there is none. */
  now: AgentInfo | null;
  /** Called with the result, in words. */
  onDone: (what: string) => Promise<unknown>;
  onCancel: () => void;
}

const scopes = [
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

/** Creates or edits an agent. The host validates it. */
export function AgentForm({ host, project, agent, now, onDone, onCancel }: AgentFormProps) {
  const { info } = useHostData(host);
  const [name, setName] = useState(agent?.name ?? "");
  const [draft, setDraft] = useState(() => fieldsOf(agent));
  const limited = isLimited(info);
  const [scope, setScope] = useState<string>(agent?.scope === "user" && !limited ? "user" : "project");
  const [deleting, setDeleting] = useState(false);
  const { busy, error, act } = useAct();
  const promptId = useId();
  const set = (change: Partial<Fields>) => setDraft((before) => ({ ...before, ...change }));
  const where = (chosen: string) =>
    chosen === "user" ? { scope: "user" as const } : { scope: "project" as const, projectId: project.id };
  // A change by others is said above, so what is saved replaces the current version.
  const save = () =>
    act("save", async () => {
      const version = now?.scope === scope && now.version ? { version: now.version } : {};
      await host.request("save_agent", { ...where(scope), name, ...version, agent: draftOf(draft, agent) });
      await onDone(t("project.agentForm.saved", { name }));
    });
  const remove = async () => {
    if (now?.version) {
      await host.request("delete_agent", { ...where(now.scope), name, version: now.version });
    }
    await onDone(t("project.agentForm.deleted", { name }));
  };
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
      ready={name !== "" && draft.description.trim() !== ""}
      onSave={save}
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
      <TextField
        label={t("project.agentForm.description")}
        value={draft.description}
        placeholder={t("project.agentForm.itsPurposeInOneLine")}
        data-testid="agent-description"
        autoFocus={agent !== null}
        onChange={(e) => set({ description: e.target.value })}
      />
      {nameLists.map(({ field, ...shown }) => (
        <TextField
          key={field}
          mono
          autoCapitalize="off"
          value={draft[field]}
          onChange={(e) => set({ [field]: e.target.value })}
          {...shown}
        />
      ))}
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label={t("project.agentForm.turnsPerTask")}
          inputMode="numeric"
          value={draft.maxTurns}
          placeholder="10"
          onChange={(e) => set({ maxTurns: e.target.value })}
        />
        <TextField
          label={t("project.agentForm.atOnce")}
          inputMode="numeric"
          value={draft.maxConcurrent}
          placeholder={t("project.agentForm.noLimit")}
          onChange={(e) => set({ maxConcurrent: e.target.value })}
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
          value={draft.prompt}
          data-testid="agent-prompt-text"
          placeholder={t("project.agentForm.instructionsForTheAgentIn")}
          onChange={(e) => set({ prompt: e.target.value })}
          className="block w-full rounded-md border border-line-strong bg-surface px-3 py-1.5 text-base placeholder:text-faint sm:text-sm"
        />
      </div>
      <div className="flex flex-wrap gap-2">
        <Select
          label={t("project.agentForm.model")}
          value={draft.model}
          options={models}
          onChange={(e) => set({ model: e.target.value })}
        />
        <Select
          label={t("project.agentForm.saveTo")}
          value={scope}
          options={limited ? scopes.slice(0, 1) : scopes}
          onChange={(e) => setScope(e.target.value)}
        />
      </div>
      {limited ? <p className="text-muted text-sm">{t("project.agentForm.limited")}</p> : null}
      {deleting && now ? (
        <ConfirmSheet
          title={t("project.agentForm.deleteTheAgent", { name: now.name })}
          confirm={t("project.agentForm.delete")}
          onConfirm={remove}
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

interface Fields {
  description: string;
  model: string;
  tools: string;
  disallowedTools: string;
  subagents: string;
  maxTurns: string;
  maxConcurrent: string;
  prompt: string;
}

function fieldsOf(agent: AgentInfo | null): Fields {
  return {
    description: agent?.description ?? "",
    model: agent?.model ?? "",
    tools: textOf(agent?.tools),
    disallowedTools: (agent?.disallowedTools ?? []).join(", "),
    subagents: textOf(agent?.subagents),
    maxTurns: agent?.maxTurns ? String(agent.maxTurns) : "",
    maxConcurrent: agent?.maxConcurrent ? String(agent.maxConcurrent) : "",
    prompt: agent?.prompt ?? "",
  };
}

/** An absent list means all, an empty one none. */
function textOf(list: readonly string[] | undefined): string {
  return list ? list.join(", ") || "none" : "";
}

function listOf(text: string): string[] | undefined {
  const plain = text.trim();
  if (plain === "" || plain === "all") {
    return undefined;
  }
  if (plain === "none") {
    return [];
  }
  return namesOf(plain);
}

function namesOf(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "none");
}

export function draftOf(fields: Fields, agent: AgentInfo | null): AgentDraft {
  const tools = listOf(fields.tools);
  const subagents = listOf(fields.subagents);
  const without = namesOf(fields.disallowedTools);
  // Sends -1 for input that is not a number; the host's error then says what is valid.
  const number = (text: string) => (/^\d*$/.test(text.trim()) ? Number(text) : -1);
  const maxTurns = number(fields.maxTurns);
  const maxConcurrent = number(fields.maxConcurrent);
  return {
    description: fields.description.trim(),
    prompt: fields.prompt,
    enabled: agent?.enabled ?? true,
    ...(fields.model ? { model: fields.model } : {}),
    ...(tools ? { tools } : {}),
    ...(subagents ? { subagents } : {}),
    ...(without.length > 0 ? { disallowedTools: without } : {}),
    ...(maxTurns ? { maxTurns } : {}),
    ...(maxConcurrent ? { maxConcurrent } : {}),
  };
}
