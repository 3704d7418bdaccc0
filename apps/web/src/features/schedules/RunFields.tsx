import { type ReactNode, useId } from "react";
import type { Host } from "../../api/contract";
import type { HostInfo, Mode } from "../../api/types";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/schedules";
import { Switch } from "../access/Switch";
import { useHostQuery } from "../shared/host-queries";
import { modelLabel } from "../shared/ModelSelect";
import { highestMode, modes, nameOfMode, rankOf } from "../shared/modes";
import { isOutside, type ScheduleFields } from "./draft";

export interface RunFieldsProps {
  host: Host;
  info: HostInfo | null;
  projectId: string;
  skills: readonly string[];
  fields: ScheduleFields;
  onChange: (change: Partial<ScheduleFields>) => void;
}

/** What a run does, what it may do, and how much it may use. */
export function RunFields(props: RunFieldsProps) {
  const { skills, fields, onChange } = props;
  const promptId = useId();
  return (
    <>
      {skills.length > 0 ? (
        <Labeled label={t("schedules.form.skill")}>
          <Select
            label={t("schedules.form.skill")}
            className="w-full"
            value={fields.skill}
            options={[
              { value: "", label: t("schedules.form.noSkill") },
              ...skills.map((name) => ({ value: name, label: `/${name}` })),
            ]}
            onChange={(event) => onChange({ skill: event.target.value })}
          />
        </Labeled>
      ) : null}
      <div>
        <label htmlFor={promptId} className="mb-1 block font-medium text-sm">
          {fields.skill ? t("schedules.form.skillText") : t("schedules.form.prompt")}
        </label>
        <textarea
          id={promptId}
          rows={3}
          value={fields.prompt}
          data-testid="schedule-prompt"
          placeholder={fields.skill ? "" : t("schedules.form.promptExample")}
          onChange={(event) => onChange({ prompt: event.target.value })}
          className="block w-full rounded-md border border-line-strong bg-surface px-3 py-1.5 text-base placeholder:text-faint sm:text-sm"
        />
      </div>
      <Allowed {...props} />
      <Limits {...props} />
    </>
  );
}

function Labeled({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <p aria-hidden="true" className="mb-1 font-medium text-sm">
        {label}
      </p>
      {children}
    </div>
  );
}

function Allowed({ host, info, projectId, fields, onChange }: RunFieldsProps) {
  const { data } = useHostQuery(host, "list_agents", { projectId });
  const agents = (data?.agents ?? []).filter(({ enabled }) => enabled).map(({ name }) => name);
  const outside = isOutside(fields.kind);
  const most = info ? (highestMode(info) ?? "ask") : fields.mode;
  const offered = modes.map(({ mode }) => mode).filter((mode) => rankOf(mode) <= rankOf(most) || mode === fields.mode);
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <Labeled label={t("schedules.form.mode")}>
          <Select
            label={t("schedules.form.mode")}
            data-testid="schedule-mode"
            className="w-full"
            value={fields.mode}
            options={offered.map((mode) => ({ value: mode, label: nameOfMode(mode) }))}
            onChange={(event) => onChange({ mode: event.target.value as Mode })}
          />
        </Labeled>
        <Labeled label={t("schedules.form.onApproval")}>
          <Select
            label={t("schedules.form.onApproval")}
            className="w-full"
            value={fields.onApproval}
            options={[
              { value: "wait", label: t("schedules.form.wait") },
              { value: "end", label: t("schedules.form.end") },
            ]}
            onChange={(event) => onChange({ onApproval: event.target.value as ScheduleFields["onApproval"] })}
          />
        </Labeled>
        <Labeled label={t("schedules.form.agent")}>
          <Select
            label={t("schedules.form.agent")}
            className="w-full"
            value={fields.agent}
            options={[
              { value: "", label: t("schedules.form.defaultAgent") },
              ...[...new Set([...agents, ...(fields.agent ? [fields.agent] : [])])].map((name) => ({
                value: name,
                label: name,
              })),
            ]}
            onChange={(event) => onChange({ agent: event.target.value })}
          />
        </Labeled>
        <Labeled label={t("schedules.form.model")}>
          <Select
            label={t("schedules.form.model")}
            className="w-full"
            value={fields.model}
            options={[
              { value: "", label: t("schedules.form.defaultModel") },
              ...(info?.models ?? []).map((model) => ({ value: model.name, label: modelLabel(model) })),
            ]}
            onChange={(event) => onChange({ model: event.target.value })}
          />
        </Labeled>
      </div>
      {outside ? (
        <>
          <p className="text-sm text-warn">{t("schedules.form.outside")}</p>
          <Switch
            label={t("schedules.form.unattended")}
            hint={t("schedules.form.unattendedHint")}
            testId="unattended"
            on={fields.unattended}
            onChange={(unattended) => onChange({ unattended })}
          />
        </>
      ) : null}
      <Switch
        label={t("schedules.form.worktree")}
        hint={t("schedules.form.worktreeHint")}
        testId="schedule-worktree"
        on={fields.worktree}
        onChange={(worktree) => onChange({ worktree })}
      />
    </>
  );
}

function Limits({ fields, onChange }: RunFieldsProps) {
  const outside = isOutside(fields.kind);
  return (
    <>
      <fieldset>
        <legend className="font-medium text-sm">{t("schedules.form.limits")}</legend>
        <div className="mt-1 grid grid-cols-3 gap-3">
          {(["cost", "tokens", "minutes"] as const).map((name) => (
            <TextField
              key={name}
              label={limitText(name)}
              inputMode="decimal"
              value={fields[name]}
              placeholder={t("schedules.form.noLimit")}
              onChange={(event) => onChange({ [name]: event.target.value })}
            />
          ))}
        </div>
      </fieldset>
      {outside ? null : (
        <Switch
          label={t("schedules.form.overlap")}
          hint={t("schedules.form.overlapHint")}
          testId="overlap"
          on={fields.overlap === "queue"}
          onChange={(on) => onChange({ overlap: on ? "queue" : "skip" })}
        />
      )}
      {fields.kind === "cron" || fields.kind === "once" ? (
        <Switch
          label={t("schedules.form.missed")}
          hint={t("schedules.form.missedHint")}
          testId="missed"
          on={fields.missed === "run"}
          onChange={(on) => onChange({ missed: on ? "run" : "skip" })}
        />
      ) : null}
    </>
  );
}

function limitText(name: "cost" | "tokens" | "minutes"): string {
  switch (name) {
    case "cost":
      return t("schedules.form.cost");
    case "tokens":
      return t("schedules.form.tokens");
    case "minutes":
      return t("schedules.form.minutes");
  }
}
