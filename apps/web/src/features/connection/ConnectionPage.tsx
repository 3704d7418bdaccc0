import { useState } from "react";
import type { DiagnosisState } from "../../api/diagnosis";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { CopyButton } from "../../components/CopyButton";
import { CheckIcon, RefreshIcon, WarningIcon } from "../../components/icons";
import { Notice } from "../../components/Notice";
import { Spinner } from "../../components/Spinner";
import { PageHeader } from "../shared/PageHeader";
import { useTitle } from "../shared/use-title";
import { StepList } from "./StepList";
import { useDiagnosis } from "./use-diagnosis";
import { hasWarning, reportOf, type Stop, stopsOf, titleOf } from "./words";

/** Where the way to each machine stops, why, and what to do. */
export function ConnectionPage() {
  const [run, setRun] = useState(0);
  const state = useDiagnosis(run);
  useTitle("Connection");
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHeader
        title="Connection"
        back={{ to: "/" }}
        actions={
          <>
            {state?.done ? <CopyButton text={reportOf(state)} label="Copy the report" /> : null}
            <Button
              data-testid="check-again"
              className="max-sm:border-transparent max-sm:bg-transparent"
              disabled={!state?.done}
              onClick={() => setRun((n) => n + 1)}
            >
              <RefreshIcon /> <span className="max-sm:sr-only">Check again</span>
            </Button>
          </>
        }
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard */}
      <main tabIndex={0} className="safe-x min-h-0 flex-1 overflow-y-auto py-5">
        <div className="mx-auto max-w-2xl space-y-4">{state ? <Diagnosis state={state} /> : null}</div>
      </main>
    </div>
  );
}

function Diagnosis({ state }: { state: DiagnosisState }) {
  return (
    <>
      <Summary state={state} />
      <section>
        <Heading title="The relay" detail={state.relayUrl} />
        <Card>
          <StepList steps={state.relay} />
        </Card>
      </section>
      {state.devices.map((device) => (
        <section key={device.id} data-testid="device-steps">
          <Heading title={device.label} detail={`${device.id.slice(0, 12)}…${device.id.slice(-4)}`} />
          <Card>
            <StepList steps={device.steps} />
          </Card>
        </section>
      ))}
    </>
  );
}

function Heading({ title, detail }: { title: string; detail: string }) {
  return (
    <div className="mb-1.5 flex items-baseline justify-between gap-3 px-1">
      <h2 className="truncate font-medium text-sm">{title}</h2>
      <span className="caption min-w-0 truncate text-faint">{detail}</span>
    </div>
  );
}

/** The whole in one sentence. */
function Summary({ state }: { state: DiagnosisState }) {
  const stops = stopsOf(state);
  if (!state.done) {
    return (
      <Notice data-testid="diagnosis" data-state="running" role="status" icon={<Spinner />} title="Looking at the way">
        Each step is tried after the one before it.
      </Notice>
    );
  }
  if (stops.length > 0) {
    return (
      <Notice
        data-testid="diagnosis"
        data-state="failed"
        role="status"
        tone="danger"
        icon={<WarningIcon className="text-danger" />}
        title={titleOfStops(stops, state.devices.length)}
      >
        {stops.length === 1 && stops[0]
          ? `The way stops at ${titleOf(stops[0].step.name)}: ${stops[0].step.detail}.`
          : "Below stands where each way stops, and what to do."}
      </Notice>
    );
  }
  const warned = hasWarning(state);
  return (
    <Notice
      data-testid="diagnosis"
      data-state={warned ? "warn" : "ok"}
      role="status"
      tone={warned ? "warn" : "plain"}
      icon={warned ? <WarningIcon className="text-warn" /> : <CheckIcon className="text-accent" />}
      title={warned ? "It works, but not all is well" : "All is well"}
    >
      {state.devices.length === 0
        ? "The relay lets this browser in. It is paired with no machine yet."
        : "Every paired machine can be reached from here."}
    </Notice>
  );
}

function titleOfStops(stops: readonly Stop[], devices: number): string {
  const [first] = stops;
  if (first?.device === null) {
    return first.step.name === "login" ? "The relay does not let this browser in" : "The relay cannot be reached";
  }
  if (stops.length === 1) return `${first?.device} cannot be reached`;
  return stops.length === devices ? "No machine can be reached" : `${stops.length} machines cannot be reached`;
}
