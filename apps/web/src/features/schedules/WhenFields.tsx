import type { Schedule } from "../../api/types";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/schedules";
import { Switch } from "../access/Switch";
import { sessionTitle } from "../shared/host-data";
import { useSessions } from "../shared/sessions";
import { CronFields, type WhenProps } from "./CronFields";
import type { ScheduleFields, WhenKind } from "./draft";

const kinds: WhenKind[] = ["cron", "once", "schedule", "session", "webhook", "folder", "github"];

function kindText(kind: WhenKind): string {
  switch (kind) {
    case "cron":
      return t("schedules.kind.cron");
    case "once":
      return t("schedules.kind.once");
    case "schedule":
      return t("schedules.kind.schedule");
    case "session":
      return t("schedules.kind.session");
    case "webhook":
      return t("schedules.kind.webhook");
    case "folder":
      return t("schedules.kind.folder");
    case "github":
      return t("schedules.kind.github");
  }
}

export interface WhenFieldsProps extends WhenProps {
  projectId: string;
  /** The schedules of the project that it may follow. */
  others: readonly Schedule[];
}

/** When a schedule runs: at times, after something, or for text from outside. */
export function WhenFields({ projectId, others, ...rest }: WhenFieldsProps) {
  const { fields, onChange } = rest;
  const offered = kinds.filter((kind) => kind !== "schedule" || others.length > 0 || fields.kind === "schedule");
  return (
    <fieldset className="space-y-3">
      <legend className="mb-1.5 font-medium text-sm">{t("schedules.form.when")}</legend>
      <Select
        label={t("schedules.form.when")}
        data-testid="when-kind"
        className="w-full"
        value={fields.kind}
        options={offered.map((kind) => ({ value: kind, label: kindText(kind) }))}
        onChange={(event) => onChange({ kind: event.target.value as WhenKind })}
      />
      {fields.kind === "cron" ? <CronFields {...rest} /> : null}
      {fields.kind === "once" ? (
        <TextField
          label={t("schedules.form.at")}
          type="datetime-local"
          data-testid="at"
          value={fields.at}
          onChange={(event) => onChange({ at: event.target.value })}
        />
      ) : null}
      {fields.kind === "schedule" ? <AfterSchedule {...rest} others={others} /> : null}
      {fields.kind === "session" ? <AfterSession {...rest} projectId={projectId} /> : null}
      {fields.kind === "webhook" ? (
        <Switch
          label={t("schedules.form.signed")}
          hint={t("schedules.form.signedHint")}
          testId="signed"
          on={fields.signed}
          onChange={(signed) => onChange({ signed })}
        />
      ) : null}
      {fields.kind === "folder" || fields.kind === "github" ? <Watched {...rest} kind={fields.kind} /> : null}
    </fieldset>
  );
}

function AfterSchedule({ fields, others, onChange }: WhenProps & { others: readonly Schedule[] }) {
  return (
    <div className="flex flex-wrap gap-2">
      <Select
        label={t("schedules.form.afterSchedule")}
        data-testid="after-schedule"
        value={fields.afterSchedule}
        options={[
          { value: "", label: t("schedules.form.choose") },
          ...others.map(({ id, spec }) => ({ value: id, label: spec.name })),
        ]}
        onChange={(event) => onChange({ afterSchedule: event.target.value })}
      />
      <Select
        label={t("schedules.form.outcome")}
        value={fields.outcome}
        options={[
          { value: "succeeded", label: t("schedules.form.ifSucceeded") },
          { value: "failed", label: t("schedules.form.ifFailed") },
          { value: "ended", label: t("schedules.form.always") },
        ]}
        onChange={(event) => onChange({ outcome: event.target.value as ScheduleFields["outcome"] })}
      />
    </div>
  );
}

function AfterSession({ host, fields, projectId, onChange }: WhenProps & { projectId: string }) {
  const { sessions } = useSessions(host, projectId);
  const { afterSession } = fields;
  const known = sessions?.some(({ id }) => id === afterSession);
  return (
    <Select
      label={t("schedules.form.afterSession")}
      data-testid="after-session"
      className="w-full"
      value={afterSession}
      options={[
        { value: "", label: t("schedules.form.choose") },
        ...(afterSession && !known ? [{ value: afterSession, label: afterSession }] : []),
        ...(sessions ?? []).map((session) => ({ value: session.id, label: sessionTitle(session) })),
      ]}
      onChange={(event) => onChange({ afterSession: event.target.value })}
    />
  );
}

function Watched({ fields, kind, onChange }: WhenProps & { kind: "folder" | "github" }) {
  const plain = { autoComplete: "off", autoCapitalize: "off", spellCheck: false, mono: true } as const;
  return kind === "folder" ? (
    <div className="grid gap-3 sm:grid-cols-2">
      <TextField
        {...plain}
        label={t("schedules.form.folder")}
        data-testid="folder"
        value={fields.path}
        placeholder={t("schedules.form.folderExample")}
        onChange={(event) => onChange({ path: event.target.value })}
      />
      <TextField
        {...plain}
        label={t("schedules.form.pattern")}
        value={fields.pattern}
        placeholder={t("schedules.form.allFiles")}
        onChange={(event) => onChange({ pattern: event.target.value })}
      />
    </div>
  ) : (
    <>
      <TextField
        {...plain}
        label={t("schedules.form.repository")}
        data-testid="repository"
        value={fields.repository}
        placeholder={t("schedules.form.repositoryExample")}
        onChange={(event) => onChange({ repository: event.target.value })}
      />
      <TextField
        {...plain}
        label={t("schedules.form.authors")}
        value={fields.authors}
        hint={t("schedules.form.authorsHint")}
        onChange={(event) => onChange({ authors: event.target.value })}
      />
      <TextField
        {...plain}
        label={t("schedules.form.phrase")}
        value={fields.phrase}
        onChange={(event) => onChange({ phrase: event.target.value })}
      />
    </>
  );
}
