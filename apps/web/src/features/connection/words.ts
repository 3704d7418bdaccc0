// What a diagnosis says to people. Titles and hints are those of `scorel doctor`.

import { type DiagnosisState, type DiagnosisStep, failureOf, type StepName } from "../../api/diagnosis";
import vocabulary from "../../api/doctor-words.json";
import { t } from "../../i18n/connection";
import { number, translation } from "../../i18n/i18n";

/** What a step looks at. */
export function titleOf(name: StepName): string {
  return (translation().doctor ?? vocabulary).steps[name];
}

/** What helps against what a step found; null when there is nothing to do. */
export function hintOf(step: DiagnosisStep): string | null {
  return step.finding ? (translation().doctor ?? vocabulary).hints[step.finding] : null;
}

/** Where a diagnosis stopped. `device` is its label; null is before any. */
export interface Stop {
  step: DiagnosisStep;
  device: string | null;
}

/** Every place where a way stops, the relay's first. */
export function stopsOf(state: DiagnosisState): Stop[] {
  const relay = failureOf(state.relay);
  if (relay) {
    return [{ step: relay, device: null }];
  }
  return state.devices.flatMap(({ label, steps }) => {
    const step = failureOf(steps);
    return step ? [{ step, device: label }] : [];
  });
}

export function hasWarning(state: DiagnosisState): boolean {
  return [...state.relay, ...state.devices.flatMap((device) => device.steps)].some((step) => step.status === "warn");
}

/** "3 ms", "1.2 s". */
export function tookOf(ms: number): string {
  return ms < 1000
    ? t("connection.words.milliseconds", { count: Math.round(ms) })
    : t("connection.words.seconds", { count: number(ms / 1000, 1) });
}

/** The report as `scorel doctor` prints it, to hand on. */
export function reportOf(state: DiagnosisState): string {
  const lines = [state.relayUrl, ...state.relay.flatMap(lineOf)];
  for (const { id, label, steps } of state.devices) {
    lines.push(`"${label}" (${id})`, ...steps.flatMap(lineOf));
  }
  return `${lines.join("\n")}\n`;
}

function lineOf(step: DiagnosisStep): string[] {
  const took = step.ms !== undefined && step.status !== "skipped" ? ` (${tookOf(step.ms)})` : "";
  const hint = hintOf(step);
  const line = `  ${step.status.padEnd(7)}  ${step.name.padEnd(8)}  ${step.detail}${took}`;
  return hint ? [line, `${" ".repeat(21)}${hint}`] : [line];
}
