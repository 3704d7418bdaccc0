import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { DiagnosisStep, StepStatus } from "../../api/diagnosis";
import { cx } from "../../components/cx";
import { CheckIcon, CloseIcon, WarningIcon } from "../../components/icons";
import { Spinner } from "../../components/Spinner";
import { hintOf, titleOf, tookOf } from "./words";

const marks: Record<StepStatus, { icon: ReactNode; colour: string; word: string }> = {
  waiting: { icon: <Ring />, colour: "text-line-strong", word: "waiting" },
  running: { icon: <Turning />, colour: "text-accent", word: "running" },
  ok: { icon: <CheckIcon />, colour: "text-accent", word: "well" },
  warn: { icon: <WarningIcon />, colour: "text-warn", word: "warning" },
  failed: { icon: <CloseIcon />, colour: "text-danger", word: "failed" },
  skipped: { icon: <Ring />, colour: "text-line-strong", word: "not tried" },
};

function Ring() {
  return (
    <span aria-hidden="true" className="grid size-[1.125em] place-items-center">
      <span className="size-1.5 rounded-full bg-current" />
    </span>
  );
}

/** As wide as the other marks, so that the names stand in one line. */
function Turning() {
  return (
    <span className="grid size-[1.125em] place-items-center">
      <Spinner />
    </span>
  );
}

/** The steps of one part of the way, in their order. */
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
  const { icon, colour, word } = marks[step.status];
  const hint = hintOf(step);
  const quiet = step.status === "waiting" || step.status === "skipped";
  const wrong = step.status === "failed" || step.status === "warn";
  // That a step was not tried shows; why is said where the way stops.
  const tried = step.ms !== undefined;
  return (
    <li data-testid="step" data-step={step.name} data-status={step.status} className="px-3.5 py-2">
      <div className="flex items-baseline gap-2.5">
        <span className={cx("shrink-0 self-start pt-[0.2em] leading-none", colour)}>{icon}</span>
        <p className={cx("w-20 shrink-0", quiet ? "text-faint" : "font-medium")}>
          {titleOf(step.name)}
          <span className="sr-only">: {word}</span>
        </p>
        <p className={cx("min-w-0 flex-1 break-words text-sm", wrong ? "text-ink" : "text-faint")}>
          {tried ? step.detail : null}
        </p>
        {tried && !quiet ? (
          <span className="caption shrink-0 text-faint tabular-nums">{tookOf(step.ms ?? 0)}</span>
        ) : null}
      </div>
      {hint ? <Hint step={step} hint={hint} /> : null}
    </li>
  );
}

const colours = { warn: "border-warn-line bg-warn-soft", failed: "border-danger-line bg-danger-soft" };

function Hint({ step, hint }: { step: DiagnosisStep; hint: string }) {
  const tone = step.status === "warn" ? colours.warn : colours.failed;
  return (
    <div className={cx("mt-2 mb-1 ml-7 break-words rounded-md border px-3 py-2 text-sm", tone)}>
      <p data-testid="step-hint">{withCode(hint)}</p>
      <Remedy step={step} />
    </div>
  );
}

/** What stands between backticks is a command. */
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

/** What the page itself can do about a finding. */
function Remedy({ step: { finding } }: { step: DiagnosisStep }) {
  switch (finding) {
    case "page_old":
      return (
        <button type="button" className={remedy} onClick={() => location.reload()}>
          Reload
        </button>
      );
    case "binding_missing":
    case "channel_refused":
    case "seal_removed":
    case "api_refused":
      return (
        <Link to="/pair" className={remedy}>
          Pair again
        </Link>
      );
    default:
      return null;
  }
}
