import type { Schedule, ScheduleRun, ScheduleWhen } from "../../api/types";
import type { Tone } from "../../components/Badge";
import { locale } from "../../i18n/i18n";
import { t } from "../../i18n/schedules";

/** Says when a schedule runs. `others` are the schedules that it may follow. */
export function whenText(when: ScheduleWhen, others: readonly Schedule[]): string {
  const { cron, zone, at, after, webhook, folder, github } = when;
  if (cron) {
    return zone ? t("schedules.when.cronIn", { cron, zone }) : t("schedules.when.cron", { cron });
  }
  if (at) {
    return t("schedules.when.once", { time: dateAndTime(at) });
  }
  if (after?.sessionId) {
    return t("schedules.when.afterSession");
  }
  if (after) {
    return afterText(after.outcome, others.find(({ id }) => id === after.scheduleId)?.spec.name ?? "");
  }
  if (webhook) {
    return webhook.signed ? t("schedules.when.signedWebhook") : t("schedules.when.webhook");
  }
  if (folder) {
    return t("schedules.when.folder", { path: folder.pattern ? `${folder.path}/${folder.pattern}` : folder.path });
  }
  return github ? t("schedules.when.github", { repository: github.repository, phrase: github.phrase }) : "";
}

function afterText(outcome: string | undefined, name: string): string {
  switch (outcome) {
    case "failed":
      return t("schedules.when.afterFailed", { name });
    case "ended":
      return t("schedules.when.afterEnded", { name });
    default:
      return t("schedules.when.afterSucceeded", { name });
  }
}

/** Formats a moment with its day of the week, in a time zone or in that of this browser. */
export function dateAndTime(at: number, zone?: string): string {
  return new Date(at).toLocaleString(locale(), {
    ...{ weekday: "short", year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" },
    ...(zone ? { timeZone: zone } : {}),
  });
}

/** The state of a run, in words and as a tone. */
export function stateOf(run: ScheduleRun): { text: string; tone: Tone } {
  switch (run.state) {
    case "queued":
      return { text: t("schedules.run.queued"), tone: "neutral" };
    case "starting":
      return { text: t("schedules.run.starting"), tone: "accent" };
    case "running":
      return { text: t("schedules.run.running"), tone: "accent" };
    case "waiting":
      return { text: t("schedules.run.waiting"), tone: "warn" };
    case "succeeded":
      return { text: t("schedules.run.succeeded"), tone: "neutral" };
    case "failed":
      return { text: t("schedules.run.failed"), tone: "danger" };
    case "canceled":
      return { text: t("schedules.run.canceled"), tone: "neutral" };
    case "skipped":
      return { text: t("schedules.run.skipped"), tone: "neutral" };
    default:
      return { text: run.state, tone: "neutral" };
  }
}

/** Says why a run began; "" for its time, which needs no word. */
export function causeText({ cause }: ScheduleRun): string {
  switch (cause) {
    case "missed":
      return t("schedules.cause.missed");
    case "person":
      return t("schedules.cause.person");
    case "session":
      return t("schedules.cause.session");
    case "run":
      return t("schedules.cause.run");
    case "webhook":
      return t("schedules.cause.webhook");
    case "folder":
      return t("schedules.cause.folder");
    case "github":
      return t("schedules.cause.github");
    default:
      return "";
  }
}
