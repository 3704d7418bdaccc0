import { useState } from "react";
import type { Schedule } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { t } from "../../i18n/schedules";
import { Switch } from "../access/Switch";
import { useLostFocus } from "../shared/lost-focus";
import { clock } from "../shared/time";
import { ScheduleRuns } from "./ScheduleRuns";
import { dateAndTime, stateOf, whenText } from "./words";

export interface ScheduleCardProps {
  deviceId: string;
  schedule: Schedule;
  schedules: readonly Schedule[];
  /** The name of its project; "" where only one is shown. */
  project: string;
  /** The action that is running; null if none is. */
  busy: string | null;
  /** Whether this browser may change it, and run it. */
  mayManage: boolean;
  mayRun: boolean;
  onEnable: (enabled: boolean) => void;
  onRun: () => void;
  onEdit: () => void;
  onRemove: () => void;
}

/** A schedule: when it runs, how the last run ended, and the actions for it. */
export function ScheduleCard(props: ScheduleCardProps) {
  const { deviceId, schedule, schedules, project, busy, mayManage, mayRun } = props;
  const { spec, enabled, nextAt, problem } = schedule;
  const { name } = spec;
  const [open, setOpen] = useState(false);
  const first = useLostFocus<HTMLButtonElement>();
  const next = enabled && nextAt ? t("schedules.card.next", { time: dateAndTime(nextAt) }) : "";
  return (
    <Card data-testid="schedule" className="p-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{name}</span>
        {project ? <span className="text-faint text-xs">{project}</span> : null}
        <LastRun schedule={schedule} />
      </div>
      <p className="mt-1 break-words text-muted">{whenText(spec.when, schedules)}</p>
      {problem ? <p className="mt-1 break-words text-danger">{problem}</p> : null}
      {mayManage ? (
        <Switch
          label={enabled ? t("schedules.card.enabled") : t("schedules.card.disabled")}
          hint={next || (enabled ? t("schedules.card.waits") : t("schedules.card.doesNotRun"))}
          testId="schedule-enabled"
          on={enabled}
          disabled={busy !== null || !(mayRun || enabled)}
          onChange={props.onEnable}
        />
      ) : (
        <p className="mt-1">{enabled ? next : t("schedules.card.disabled")}</p>
      )}
      <div className="-ml-3 mt-1 flex flex-wrap gap-x-1">
        {mayRun ? (
          <Button
            ref={first}
            tone="quiet"
            className="text-xs"
            data-testid="schedule-run"
            aria-label={t("schedules.card.runNamed", { name })}
            busy={busy === `run ${schedule.id}`}
            onClick={props.onRun}
          >
            {t("schedules.card.run")}
          </Button>
        ) : null}
        <Button
          tone="quiet"
          className="text-xs"
          data-testid="schedule-history"
          aria-expanded={open}
          aria-label={open ? t("schedules.card.hideRunsNamed", { name }) : t("schedules.card.runsNamed", { name })}
          onClick={() => setOpen(!open)}
        >
          {open ? t("schedules.card.hideRuns") : t("schedules.card.runs")}
        </Button>
        {mayRun ? (
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="schedule-edit"
            aria-label={t("schedules.card.editNamed", { name })}
            onClick={props.onEdit}
          >
            {t("schedules.card.edit")}
          </Button>
        ) : null}
        {mayManage ? (
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="schedule-remove"
            aria-label={t("schedules.card.removeNamed", { name })}
            onClick={props.onRemove}
          >
            {t("schedules.card.remove")}
          </Button>
        ) : null}
      </div>
      {open ? <ScheduleRuns deviceId={deviceId} schedule={schedule} /> : null}
    </Card>
  );
}

function LastRun({ schedule }: { schedule: Schedule }) {
  const [last] = schedule.runs;
  if (!last) {
    return null;
  }
  const { text, tone } = stateOf(last);
  return (
    <span className="ml-auto inline-flex items-center gap-2">
      <span className="text-faint text-xs tabular-nums">{clock(last.startedAt || last.dueAt)}</span>
      <Badge tone={tone}>{text}</Badge>
    </span>
  );
}
