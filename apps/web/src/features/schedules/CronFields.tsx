import { type ReactNode, useEffect, useId, useState } from "react";
import type { Host } from "../../api/contract";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/schedules";
import { withHelp } from "../shared/with-help";
import type { ScheduleFields } from "./draft";
import { dateAndTime } from "./words";

export interface WhenProps {
  host: Host;
  fields: ScheduleFields;
  onChange: (change: Partial<ScheduleFields>) => void;
}

const presets = ["0 * * * *", "0 8 * * *", "0 8 * * 1-5", "0 8 * * 1", "0 8 1 * *"];

function presetText(cron: string): string {
  switch (cron) {
    case presets[0]:
      return t("schedules.cron.hourly");
    case presets[1]:
      return t("schedules.cron.daily");
    case presets[2]:
      return t("schedules.cron.workdays");
    case presets[3]:
      return t("schedules.cron.weekly");
    case presets[4]:
      return t("schedules.cron.monthly");
    default:
      return t("schedules.cron.own");
  }
}

/** A cron expression in a time zone, with the next times as the host computes them. */
export function CronFields({ host, fields, onChange }: WhenProps) {
  const zones = useId();
  const { cron, zone } = fields;
  const known = presets.includes(cron);
  return (
    <>
      <Select
        label={t("schedules.cron.preset")}
        data-testid="cron-preset"
        className="w-full"
        value={known ? cron : ""}
        options={[...(known ? [] : [""]), ...presets].map((value) => ({ value, label: presetText(value) }))}
        onChange={(event) => event.target.value && onChange({ cron: event.target.value })}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label={t("schedules.cron.expression")}
          mono
          value={cron}
          data-testid="cron"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          hint={t("schedules.cron.hint")}
          onChange={(event) => onChange({ cron: event.target.value })}
        />
        <TextField
          label={t("schedules.cron.zone")}
          value={zone}
          data-testid="zone"
          list={zones}
          placeholder={t("schedules.cron.zoneOfTheMachine")}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => onChange({ zone: event.target.value })}
        />
      </div>
      <datalist id={zones}>
        {Intl.supportedValuesOf("timeZone").map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <NextTimes host={host} cron={cron} zone={zone} />
    </>
  );
}

/** The next times of an expression, or what is wrong with it, once typing has stopped for a moment. */
function NextTimes({ host, cron, zone }: { host: Host; cron: string; zone: string }) {
  const [shown, setShown] = useState<{ times: number[] } | { error: ReactNode } | null>(null);
  useEffect(() => {
    let current = cron !== "";
    const timer = setTimeout(() => {
      const asked = { cron: cron.trim(), ...(zone.trim() ? { zone: zone.trim() } : {}) };
      (current ? host.request("preview_schedule", asked) : Promise.resolve({ times: [] })).then(
        (preview) => current && setShown(preview),
        (cause) => current && setShown({ error: withHelp(cause) }),
      );
    }, 300);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [host, cron, zone]);
  if (shown === null) {
    return null;
  }
  if ("error" in shown) {
    return (
      <p role="alert" data-testid="cron-error" className="break-words text-danger text-sm">
        {shown.error}
      </p>
    );
  }
  const text = (at: number) => timeIn(at, zone.trim());
  return shown.times.length > 0 ? (
    <div data-testid="next-times" role="status" className="text-muted text-sm">
      <p>{t("schedules.cron.next")}</p>
      <ul className="mt-0.5">
        {shown.times.map((at) => (
          <li key={at} className="tabular-nums">
            {text(at)}
          </li>
        ))}
      </ul>
    </div>
  ) : null;
}

/** The host may know zones that this browser does not. */
function timeIn(at: number, zone: string): string {
  try {
    return dateAndTime(at, zone);
  } catch {
    return dateAndTime(at);
  }
}
