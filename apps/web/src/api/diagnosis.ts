// What a diagnosis of the way to the machines looks like. The names of the steps, and
// the hints, are those of `scorel doctor`: doctor-words.json is written from them.
import type words from "./doctor-words.json";

export type StepName = keyof typeof words.steps;
export type Finding = keyof typeof words.hints;
export type StepStatus = "waiting" | "running" | "ok" | "warn" | "failed" | "skipped";

export interface DiagnosisStep {
  name: StepName;
  status: StepStatus;
  /** What was found, in words. */
  detail: string;
  /** What is wrong, for the hint. */
  finding?: Finding;
  /** How long it took, in milliseconds. */
  ms?: number;
}

/** The steps of one device. */
export interface DeviceSteps {
  id: string;
  label: string;
  steps: DiagnosisStep[];
}

/** What was found of one relay or listener, and of the devices behind it. */
export interface PathDiagnosis {
  relayUrl: string;
  /** The steps up to the relay. */
  relay: DiagnosisStep[];
  devices: DeviceSteps[];
}

/** What the link has found so far: its half of a diagnosis. */
export interface LinkDiagnosis {
  relay: DiagnosisStep[];
  devices: DeviceSteps[];
  /** The other relays and listeners that lead to devices of this browser. */
  others: PathDiagnosis[];
  done: boolean;
}

/** Of the chosen relay, and of the others. */
export interface DiagnosisState extends PathDiagnosis {
  others: PathDiagnosis[];
  done: boolean;
}

/** What a step that did not fail says. */
export interface Verdict {
  status?: "ok" | "warn" | "skipped";
  detail: string;
  finding?: Finding;
}

/** A step that failed. */
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

/** The first step that failed. */
export function failureOf(steps: readonly DiagnosisStep[]): DiagnosisStep | undefined {
  return steps.find((step) => step.status === "failed");
}

/** Marks what was not tried, and says why: a step before it failed. */
export function skipRest(steps: readonly DiagnosisStep[], detail: string): DiagnosisStep[] {
  return steps.map((step) => (step.status === "waiting" ? { ...step, status: "skipped", detail } : step));
}

/** Runs one step and returns what became of it. `onError` explains whatever else was thrown. */
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
