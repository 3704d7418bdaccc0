import { useState } from "react";
import type { Host } from "../../api/contract";
import type { HostInfo, Project, Schedule } from "../../api/types";
import { Select } from "../../components/Select";
import { t } from "../../i18n/schedules";
import { EntryForm } from "../shared/EntryForm";
import { useHostQuery } from "../shared/host-queries";
import { useAct } from "../shared/use-act";
import { fieldsOf, isReady, newToken, type ScheduleFields, specOf } from "./draft";
import { RunFields } from "./RunFields";
import { WhenFields } from "./WhenFields";

export interface Saved {
  schedule: Schedule;
  /** The new token of a webhook, which is shown once. */
  token?: string;
}

export interface ScheduleFormProps {
  host: Host;
  info: HostInfo | null;
  /** The projects to choose from; one where the project is given. */
  projects: Project[];
  /** null for a new one. */
  schedule: Schedule | null;
  schedules: readonly Schedule[];
  onDone: (saved: Saved) => Promise<unknown>;
  onCancel: () => void;
}

/** Adds or edits a schedule. The host validates it. */
export function ScheduleForm(props: ScheduleFormProps) {
  const { host, projects, schedule } = props;
  const [projectId, setProjectId] = useState(schedule?.projectId ?? projects[0]?.id ?? "");
  // The prompt of a schedule is split into a skill and the rest once the skills are known.
  const { data, error } = useHostQuery(host, "list_skills", { projectId });
  const skills = data?.skills.filter(({ disabled }) => !disabled).map(({ name }) => name);
  if (!skills && !error && schedule) {
    return null;
  }
  return <Fields {...props} projectId={projectId} skills={skills ?? []} onProject={setProjectId} />;
}

interface FieldsProps extends ScheduleFormProps {
  projectId: string;
  skills: readonly string[];
  onProject: (id: string) => void;
}

function Fields(props: FieldsProps) {
  const { host, info, projects, projectId, skills, schedule, schedules, onProject, onDone, onCancel } = props;
  const [fields, setFields] = useState(() => fieldsOf(schedule, skills));
  const [clientKey] = useState(() => crypto.randomUUID());
  const [newWebhookToken] = useState(newToken); // one for all attempts: the host may have saved it and its answer been lost
  const { busy, error, act } = useAct();
  const change = (to: Partial<ScheduleFields>) => setFields((before) => ({ ...before, ...to }));
  const save = () =>
    act("save", async () => {
      const { webhook } = schedule?.spec.when ?? {};
      // The host keeps the token of a webhook, unless requests are signed with it from now on.
      const fresh = fields.kind === "webhook" && (!webhook || (fields.signed && !webhook.signed));
      const token = fresh ? newWebhookToken : undefined;
      const saved = await host.request("save_schedule", {
        projectId,
        ...(schedule ? { id: schedule.id } : { clientKey }),
        spec: specOf(fields, schedule?.spec),
        ...(token ? { token } : {}),
      });
      await onDone({ ...saved, ...(token ? { token } : {}) });
    });
  const others = schedules.filter((each) => each.projectId === projectId && each.id !== schedule?.id);
  return (
    <EntryForm
      testId="schedule"
      isNew
      name={fields.name}
      namePlaceholder={t("schedules.form.nameExample")}
      onName={(name) => change({ name })}
      error={error}
      busy={busy !== null}
      ready={isReady(fields)}
      onSave={save}
      onCancel={onCancel}
    >
      {projects.length > 1 && !schedule ? (
        <Select
          label={t("schedules.form.project")}
          data-testid="schedule-project"
          className="w-full"
          value={projectId}
          options={projects.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(event) => onProject(event.target.value)}
        />
      ) : null}
      <WhenFields host={host} projectId={projectId} others={others} fields={fields} onChange={change} />
      <RunFields {...{ host, info, projectId, skills, fields }} onChange={change} />
    </EntryForm>
  );
}
