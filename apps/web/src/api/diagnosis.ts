// The types of a diagnosis of the paths to the devices. The names of the steps and the hints are those of `scorel
// doctor`, from which doctor-words.json is generated.
import type words from "./doctor-words.json";

export type StepName = keyof typeof words.steps;
export type Finding = keyof typeof words.hints;
export type StepStatus = "waiting" | "running" | "ok" | "warn" | "failed" | "skipped";

export interface DiagnosisStep {
  name: StepName;
  status: StepStatus;
  /** The finding, in words. */
  detail: string;
  /** The kind of problem, which selects the hint. */
  finding?: Finding;
  /** The duration, in milliseconds. */
  ms?: number;
}

/** The steps of one device. */
export interface DeviceSteps {
  id: string;
  label: string;
  steps: DiagnosisStep[];
}

/** The steps of one relay or listener and of the devices behind it. */
export interface PathDiagnosis {
  relayUrl: string;
  /** The steps up to the relay. */
  relay: DiagnosisStep[];
  devices: DeviceSteps[];
}

/** The link worker's half of a diagnosis, as far as it has run. */
export interface LinkDiagnosis {
  relay: DiagnosisStep[];
  devices: DeviceSteps[];
  /** The other relays and listeners that serve devices of this browser. */
  others: PathDiagnosis[];
  done: boolean;
}

/** The steps of the chosen relay and of the other paths. */
export interface DiagnosisState extends PathDiagnosis {
  others: PathDiagnosis[];
  done: boolean;
}

/** The result of a step that did not fail. */
export interface Verdict {
  status?: "ok" | "warn" | "skipped";
  detail: string;
  finding?: Finding;
}

/** The error of a failed step. */
export class StepFailure extends Error {
  override name = "StepFailure";
  constructor(
    readonly finding: Finding,
    readonly detail: string,
  ) {
    super(detail);
  }
}

export function waiting(names: readonly StepName[]): DiagnosisStep[] {
  return names.map((name) => ({ name, status: "waiting", detail: "" }));
}

/** Returns the first failed step. */
export function failureOf(steps: readonly DiagnosisStep[]): DiagnosisStep | undefined {
  return steps.find((step) => step.status === "failed");
}

/** Marks the steps that were not tried because an earlier one failed, with that reason. */
export function skipRest(steps: readonly DiagnosisStep[], detail: string): DiagnosisStep[] {
  return steps.map((step) => (step.status === "waiting" ? { ...step, status: "skipped", detail } : step));
}

/** Runs one step and returns it with its result. `onError` explains errors other than StepFailure. */
export async function tryStep(
  name: StepName,
  run: () => Verdict | Promise<Verdict>,
  onError: (err: unknown) => StepFailure,
): Promise<DiagnosisStep> {
  const start = performance.now();
  const outcome = await Promise.resolve()
    .then(run)
    .catch((err: unknown) => (err instanceof StepFailure ? err : onError(err)));
  const ms = performance.now() - start;
  if (outcome instanceof StepFailure) {
    return { name, status: "failed", detail: outcome.detail, finding: outcome.finding, ms };
  }
  const { status = outcome.finding ? "warn" : "ok", detail, finding } = outcome;
  return { name, status, detail, ...(finding ? { finding } : {}), ms };
}
