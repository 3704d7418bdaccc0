import { Link } from "wouter";
import type { Schedule } from "../../api/types";
import { Badge } from "../../components/Badge";
import { t } from "../../i18n/schedules";
import { address } from "../route/address";
import { clock } from "../shared/time";
import { causeText, stateOf } from "./words";

/** The last runs of a schedule, with their sessions. */
export function ScheduleRuns({ deviceId, schedule }: { deviceId: string; schedule: Schedule }) {
  if (schedule.runs.length === 0) {
    return <p className="mt-2 text-muted">{t("schedules.run.none")}</p>;
  }
  return (
    <ul data-testid="schedule-runs" className="mt-2 divide-y divide-line border-line border-y">
      {schedule.runs.map((run) => {
        const { text, tone } = stateOf(run);
        return (
          <li key={run.id} className="py-2">
            <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <span className="tabular-nums">{clock(run.startedAt || run.dueAt)}</span>
              <span className="text-faint text-xs">{causeText(run)}</span>
              <Badge tone={tone}>{text}</Badge>
              {run.sessionId ? (
                <Link
                  to={address.session(deviceId, run.sessionId)}
                  data-testid="run-session"
                  className="touchable ml-auto inline-flex items-center font-medium text-accent underline underline-offset-2"
                >
                  {t("schedules.run.open")}
                </Link>
              ) : null}
            </div>
            {run.reason ? <p className="mt-0.5 break-words text-muted">{run.reason}</p> : null}
          </li>
        );
      })}
    </ul>
  );
}
