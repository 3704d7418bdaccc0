import { useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type HostInfo, type Schedule } from "../../api/types";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/schedules";
import { AddButton } from "../shared/AddButton";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { isRefusal } from "../shared/errors";
import { may } from "../shared/grants";
import { useHostData } from "../shared/host-data";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { useChange } from "../shared/use-change";
import { withHelp } from "../shared/with-help";
import { ScheduleCard } from "./ScheduleCard";
import { type Saved, ScheduleForm } from "./ScheduleForm";
import { WebhookToken } from "./WebhookToken";

export interface ScheduleListProps {
  host: Host;
  info: HostInfo | null;
  /** If absent, the schedules of all projects are shown. */
  projectId?: string;
}

/** Keeps the form of a schedule that is deleted while it is edited, with the text in it. */
function withEdited(schedules: Schedule[], edited: Schedule | null): Schedule[] {
  return !edited || schedules.some(({ id }) => id === edited.id) ? schedules : [edited, ...schedules];
}

/** The schedules of a project or of all projects. */
export default function ScheduleList({ host, info, projectId }: ScheduleListProps) {
  const { data, error, refetch } = useHostQuery(host, "list_schedules", projectId ? { projectId } : {});
  const { projects } = useHostData(host);
  const { busy, error: failed, done, setDone, change } = useChange(refetch);
  // The edited schedule, as it was when editing began; "" for a new one.
  const [editing, setEditing] = useState<Schedule | "" | null>(null);
  const [removing, setRemoving] = useState<Schedule | null>(null);
  const [created, setCreated] = useState<Saved | null>(null);
  if (isRefusal(error) && error.kind === ApiKind.unknown_request) {
    return null; // an older host
  }
  const mayManage = may(info, "manage");
  const mayRun = mayManage && may(info, "prompt");
  const offered = (projects ?? []).filter(({ id }) => !projectId || id === projectId);
  const enable = (schedule: Schedule, enabled: boolean) =>
    change(`enable ${schedule.id}`, async () => {
      await host.request("enable_schedule", { ...named(schedule), enabled });
      const { name } = schedule.spec;
      return enabled ? t("schedules.list.enabled", { name }) : t("schedules.list.disabled", { name });
    });
  const start = (schedule: Schedule) =>
    change(`run ${schedule.id}`, async () => {
      await host.request("run_schedule", { ...named(schedule), clientKey: crypto.randomUUID() });
      return t("schedules.list.started", { name: schedule.spec.name });
    });
  const edit = (schedule: Schedule | "") => {
    setDone(null);
    setCreated(null);
    setEditing(schedule);
  };
  const form = (schedule: Schedule | null) => (
    <ScheduleForm
      key={schedule?.id ?? ""}
      {...{ host, info, schedule, projects: offered, schedules: data?.schedules ?? [] }}
      onDone={async (saved) => {
        await refetch();
        setEditing(null);
        setCreated(saved.token ? saved : null);
        setDone(t("schedules.list.saved", { name: saved.schedule.spec.name }));
      }}
      onCancel={() => setEditing(null)}
    />
  );
  const edited = editing || null;
  const schedules = withEdited(data?.schedules ?? [], edited);
  return (
    <Section title={t("schedules.list.title")} error={failed ?? (error ? withHelp(error) : null)} done={done}>
      <p className="mt-1 text-muted text-sm">{t("schedules.list.explained")}</p>
      {data || error ? null : <Skeleton label={t("schedules.list.loading")} rows={2} className="mt-2" />}
      {data?.schedules.length === 0 && editing === null ? (
        <p className="mt-2 text-sm">{t("schedules.list.none")}</p>
      ) : null}
      {created?.token ? (
        <WebhookToken id={created.schedule.id} token={created.token} onClose={() => setCreated(null)} />
      ) : null}
      <ul className="mt-2 space-y-2 empty:mt-0">
        {schedules.map((schedule) => (
          <li key={schedule.id}>
            {edited?.id === schedule.id ? (
              form(edited)
            ) : (
              <ScheduleCard
                {...{ deviceId: host.deviceId, schedule, schedules, busy, mayManage, mayRun }}
                project={projectId ? "" : (projects?.find(({ id }) => id === schedule.projectId)?.name ?? "")}
                onEnable={(enabled) => enable(schedule, enabled)}
                onRun={() => start(schedule)}
                onEdit={() => edit(schedule)}
                onRemove={() => setRemoving(schedule)}
              />
            )}
          </li>
        ))}
      </ul>
      {mayRun && data && offered.length > 0 ? (
        editing === "" ? (
          form(null)
        ) : (
          <AddButton data-testid="schedule-add" onClick={() => edit("")}>
            {t("schedules.list.add")}
          </AddButton>
        )
      ) : null}
      {removing ? (
        <ConfirmSheet
          title={t("schedules.list.removeTitle", { name: removing.spec.name })}
          confirm={t("schedules.card.remove")}
          onConfirm={async () => {
            await host.request("delete_schedule", named(removing));
            await refetch();
            setDone(t("schedules.list.removed", { name: removing.spec.name }));
          }}
          onClose={() => setRemoving(null)}
        >
          {t("schedules.list.removeExplained")}
        </ConfirmSheet>
      ) : null}
    </Section>
  );
}

const named = ({ projectId, id }: Schedule) => ({ projectId, id });
