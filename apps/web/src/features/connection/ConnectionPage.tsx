import { useState } from "react";
import type { DiagnosisState, PathDiagnosis } from "../../api/diagnosis";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { CopyButton } from "../../components/CopyButton";
import { CheckIcon, RefreshIcon, WarningIcon } from "../../components/icons";
import { Notice } from "../../components/Notice";
import { Spinner } from "../../components/Spinner";
import { t } from "../../i18n/connection";
import { kindOf, PathList, usePaths } from "../paths/PathList";
import { PageHeader } from "../shared/PageHeader";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useTitle } from "../shared/use-title";
import { StepList } from "./StepList";
import { useDiagnosis } from "./use-diagnosis";
import {
  type DevicePaths,
  devicesOf,
  hasWarning,
  isReached,
  reportOf,
  type Stop,
  stopsOf,
  sumOf,
  titleOf,
  type Walked,
} from "./words";

/** Shows where the path to each machine fails, why, and what to do. */
export function ConnectionPage() {
  const [run, setRun] = useState(0);
  const state = useDiagnosis(run);
  useTitle(t("connection.connectionPage.connection"));
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHeader
        title={t("connection.connectionPage.connection")}
        back="/"
        actions={
          <>
            {state?.done ? (
              <CopyButton text={reportOf(state)} label={t("connection.connectionPage.copyTheReport")} />
            ) : null}
            <Button
              data-testid="check-again"
              className="max-sm:border-transparent max-sm:bg-transparent"
              disabled={!state?.done}
              onClick={() => setRun((n) => n + 1)}
            >
              <RefreshIcon /> <span className="max-sm:sr-only">{t("connection.connectionPage.checkAgain")}</span>
            </Button>
          </>
        }
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling boxes must be reachable by keyboard */}
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
        <Heading title={t("connection.connectionPage.theRelay")} detail={state.relayUrl} />
        <Card>
          <StepList steps={state.relay} />
        </Card>
      </section>
      {state.others.map((path) => (
        <OtherPath key={path.relayUrl} path={path} />
      ))}
      {devicesOf(state).map((device) => (
        <DeviceSection key={device.id} device={device} done={state.done} />
      ))}
    </>
  );
}

/** A relay or listener besides the chosen relay. */
function OtherPath({ path: { relayUrl, relay } }: { path: PathDiagnosis }) {
  const known = Object.values(useReadable(useScorel().paths)).flat();
  const kind = known.find(({ url }) => url === relayUrl)?.kind ?? "relay";
  return (
    <section data-testid="path-steps" data-url={relayUrl}>
      <Heading title={kindOf(kind)} detail={relayUrl} />
      <Card>
        <StepList steps={relay} />
      </Card>
    </section>
  );
}

function DeviceSection({ device, done }: { device: DevicePaths; done: boolean }) {
  const { id, label, paths } = device;
  const sum = done ? sumOf(device) : null;
  // The steps of a failed relay explain themselves.
  const tried = paths.length > 1 ? paths.filter(({ relayFailed }) => !relayFailed) : paths;
  return (
    <section data-testid="device-steps">
      <Heading title={label} detail={`${id.slice(0, 12)}…${id.slice(-4)}`} />
      <KnownPaths id={id} label={label} />
      {sum ? (
        <Card className="mb-2">
          <StepList steps={[sum]} />
        </Card>
      ) : null}
      {tried.map((path) => (
        <PathSteps key={path.relayUrl} path={path} named={paths.length > 1} />
      ))}
    </section>
  );
}

function PathSteps({ path: { relayUrl, steps }, named }: { path: Walked; named: boolean }) {
  return (
    <div data-testid="device-path" data-url={relayUrl} className="mb-2 last:mb-0">
      {named ? <h3 className="caption mb-1 truncate px-1 text-muted">{relayUrl}</h3> : null}
      <Card>
        <StepList steps={steps} />
      </Card>
    </div>
  );
}

function KnownPaths({ id, label }: { id: string; label: string }) {
  const paths = usePaths(id);
  return paths.length === 0 ? null : (
    <Card className="mb-2">
      <PathList paths={paths} machine={label} />
    </Card>
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

/** The result in one sentence. */
function Summary({ state }: { state: DiagnosisState }) {
  const stops = stopsOf(state);
  const devices = devicesOf(state);
  const another = devices.length > 0 && devices.every(isReached);
  if (!state.done) {
    return (
      <Notice
        data-testid="diagnosis"
        data-state="running"
        role="status"
        icon={<Spinner />}
        title={t("connection.connectionPage.testing")}
      >
        {t("connection.connectionPage.oneAfterAnother")}
      </Notice>
    );
  }
  if (stops.length > 0) {
    const [first] = stops;
    return (
      <Notice
        data-testid="diagnosis"
        data-state={another ? "warn" : "failed"}
        role="status"
        tone={another ? "warn" : "danger"}
        icon={<WarningIcon className={another ? "text-warn" : "text-danger"} />}
        title={titleOfStops(stops, devices.length)}
      >
        {stops.length === 1 && first
          ? t("connection.connectionPage.failedAt", { step: titleOf(first.step.name), detail: first.step.detail })
          : t("connection.connectionPage.seeBelow")}
        {another ? <p className="mt-1">{t("connection.connectionPage.otherPath")}</p> : null}
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
      title={
        warned ? t("connection.connectionPage.workingWithWarnings") : t("connection.connectionPage.everythingWorks")
      }
    >
      {devices.length === 0
        ? t("connection.connectionPage.noMachinePaired")
        : t("connection.connectionPage.allReachable")}
    </Notice>
  );
}

function titleOfStops(stops: readonly Stop[], devices: number): string {
  const [first] = stops;
  if (first?.device === null) {
    return first.step.name === "login"
      ? t("connection.connectionPage.relayRejects")
      : t("connection.connectionPage.relayUnreachable");
  }
  if (stops.length === 1) {
    return t("connection.connectionPage.machineUnreachable", { label: first?.device });
  }
  return stops.length === devices
    ? t("connection.connectionPage.noMachineReachable")
    : t("connection.connectionPage.machinesUnreachable", { count: stops.length });
}
