import { type FormEvent, useState } from "react";
import type { Client, ClientLimits, HostInfo, Project } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/access";
import { useAct } from "../shared/use-act";
import { type Choice, choiceOf, dayOf, type Ending, limitsOf } from "./limits";
import { ProjectChoice } from "./ProjectChoice";
import { moment, untilWhen } from "./words";

export interface LimitsFormProps {
  client: Client;
  projects: readonly Project[];
  info: HostInfo | null;
  onSave: (limits: ClientLimits) => Promise<void>;
}

/** The projects that a client sees, and when its access ends. */
export function LimitsForm({ client, projects, info, onSave }: LimitsFormProps) {
  const [choice, setChoice] = useState(() =>
    choiceOf(
      client,
      projects.map(({ id }) => id),
    ),
  );
  const [saved, setSaved] = useState(false);
  const { busy, error, act } = useAct();
  const limits = limitsOf(choice, client, Date.now());
  const change = (part: Partial<Choice>) => {
    setSaved(false);
    setChoice({ ...choice, ...part });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (limits) {
      void act("save", async () => {
        await onSave(limits);
        setChoice({ ...choice, ending: limits.expiresAt ? "keep" : "never" });
        setSaved(true);
      });
    }
  };
  return (
    <form onSubmit={submit} noValidate className="space-y-5 border-line border-t pt-4" data-testid="limits">
      <ProjectChoice client={client} projects={projects} info={info} choice={choice} onChange={change} />
      <section aria-label={t("access.limits.expiry")}>
        <h3 className="mb-1 font-medium text-sm">{t("access.limits.expiry")}</h3>
        <Select
          label={t("access.limits.expiry")}
          data-testid="limits-expiry"
          value={choice.ending}
          options={endings(client)}
          onChange={(event) => change({ ending: event.target.value as Ending })}
        />
        {choice.ending === "date" ? (
          <TextField
            type="date"
            className="mt-3"
            label={t("access.limits.date")}
            hint={t("access.limits.dateHint")}
            min={dayOf(Date.now())}
            value={choice.date}
            onChange={(event) => change({ date: event.target.value })}
            data-testid="limits-date"
          />
        ) : null}
        <p className="mt-1.5 text-muted text-sm">
          {info?.limits?.expiresAt
            ? t("access.limits.ownExpiry", { time: moment(info.limits.expiresAt) })
            : t("access.limits.expiryHint")}
        </p>
      </section>
      <div>
        <ErrorText className="mb-2">{error}</ErrorText>
        <div className="flex flex-wrap items-center gap-3">
          <Button
            type="submit"
            tone="primary"
            busy={busy !== null}
            disabled={!limits || saved}
            data-testid="save-limits"
          >
            {t("access.limits.save")}
          </Button>
          <p role="status" className="text-muted text-sm">
            {saved ? t("access.limits.saved") : null}
          </p>
        </div>
      </div>
    </form>
  );
}

function endings(client: Client): { value: Ending; label: string }[] {
  return [
    ...(client.expiresAt ? [{ value: "keep" as const, label: untilWhen(client, Date.now()) }] : []),
    { value: "never", label: t("access.limits.never") },
    { value: "8h", label: t("access.limits.hours", { count: 8 }) },
    { value: "1d", label: t("access.limits.days", { count: 1 }) },
    { value: "7d", label: t("access.limits.days", { count: 7 }) },
    { value: "date", label: t("access.limits.onADate") },
  ];
}
