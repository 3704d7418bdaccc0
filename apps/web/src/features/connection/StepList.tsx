import type { ReactNode } from "react";
import { Link } from "wouter";
import type { DiagnosisStep, StepStatus } from "../../api/diagnosis";
import { cx } from "../../components/cx";
import { CheckIcon, CloseIcon, WarningIcon } from "../../components/icons";
import { Spinner } from "../../components/Spinner";
import { t } from "../../i18n/connection";
import { hintOf, titleOf, tookOf } from "./words";

const marks: Record<StepStatus, { icon: ReactNode; color: string; word: () => string }> = {
  waiting: { icon: <Ring />, color: "text-line-strong", word: () => t("connection.stepList.waiting") },
  running: { icon: <Turning />, color: "text-accent", word: () => t("connection.stepList.running") },
  ok: { icon: <CheckIcon />, color: "text-accent", word: () => t("connection.stepList.ok") },
  warn: { icon: <WarningIcon />, color: "text-warn", word: () => t("connection.stepList.warning") },
  failed: { icon: <CloseIcon />, color: "text-danger", word: () => t("connection.stepList.failed") },
  skipped: { icon: <Ring />, color: "text-line-strong", word: () => t("connection.stepList.notTried") },
};

function Ring() {
  return (
    <span aria-hidden="true" className="grid size-[1.125em] place-items-center">
      <span className="size-1.5 rounded-full bg-current" />
    </span>
  );
}

/** As wide as the other marks, so that the names are aligned. */
function Turning() {
  return (
    <span className="grid size-[1.125em] place-items-center">
      <Spinner />
    </span>
  );
}

/** The steps of one part of the path, in order. */
export function StepList({ steps }: { steps: readonly DiagnosisStep[] }) {
  return (
    <ol className="divide-y divide-line">
      {steps.map((step) => (
        <Row key={step.name} step={step} />
      ))}
    </ol>
  );
}

function Row({ step }: { step: DiagnosisStep }) {
  const { icon, color, word } = marks[step.status];
  const hint = hintOf(step);
  const quiet = step.status === "waiting" || step.status === "skipped";
  const wrong = step.status === "failed" || step.status === "warn";
  // A skipped step is visible as such; the reason is shown where the path fails.
  const tried = step.status !== "skipped" && step.status !== "waiting" && step.detail !== "";
  return (
    <li data-testid="step" data-step={step.name} data-status={step.status} className="px-3.5 py-2">
      {/* On a phone the result is below its step, because there is no room beside it. */}
      <div className="flex items-baseline gap-x-2.5 max-sm:flex-wrap">
        <span className={cx("shrink-0 self-start pt-[0.2em] leading-none", color)}>{icon}</span>
        <p className={cx("max-sm:flex-1 sm:w-28 sm:shrink-0", quiet ? "text-faint" : "font-medium")}>
          {titleOf(step.name)}
          <span className="sr-only">{t("connection.stepList.afterName", { state: word() })}</span>
        </p>
        <p
          className={cx(
            "min-w-0 break-words text-sm max-sm:order-last max-sm:basis-full max-sm:pl-7 max-sm:empty:hidden sm:flex-1",
            wrong ? "text-ink" : "text-faint",
          )}
        >
          {tried ? step.detail : null}
        </p>
        {step.ms !== undefined && !quiet ? (
          <span className="caption shrink-0 text-faint tabular-nums">{tookOf(step.ms)}</span>
        ) : null}
      </div>
      {hint ? <Hint step={step} hint={hint} /> : null}
    </li>
  );
}

const colors = { warn: "border-warn-line bg-warn-soft", failed: "border-danger-line bg-danger-soft" };

function Hint({ step, hint }: { step: DiagnosisStep; hint: string }) {
  const tone = step.status === "warn" ? colors.warn : colors.failed;
  return (
    <div className={cx("mt-2 mb-1 ml-7 break-words rounded-md border px-3 py-2 text-sm", tone)}>
      <p data-testid="step-hint">{withCode(hint)}</p>
      <Remedy step={step} />
    </div>
  );
}

/** Renders text between backticks as code. */
function withCode(text: string): ReactNode[] {
  return text.split("`").map((part, i) =>
    i % 2 === 1 ? (
      <code key={part} className="font-mono">
        {part}
      </code>
    ) : (
      part
    ),
  );
}

const remedy = "touchable -mb-1 inline-flex items-center font-medium underline underline-offset-2";

/** Offers an action for a finding, if the page has one. */
function Remedy({ step: { finding } }: { step: DiagnosisStep }) {
  switch (finding) {
    case "page_old":
      return (
        <button type="button" className={remedy} onClick={() => location.reload()}>
          {t("connection.stepList.reload")}
        </button>
      );
    case "binding_missing":
    case "channel_refused":
    case "seal_removed":
    case "api_refused":
      return (
        <Link to="/pair" className={remedy}>
          {t("connection.stepList.pairAgain")}
        </Link>
      );
    default:
      return null;
  }
}
