// The texts of a diagnosis. Titles and hints are those of `scorel doctor`.

import {
  type DiagnosisState,
  type DiagnosisStep,
  failureOf,
  type PathDiagnosis,
  type StepName,
} from "../../api/diagnosis";
import vocabulary from "../../api/doctor-words.json";
import { t } from "../../i18n/connection";
import { number, translation } from "../../i18n/i18n";

/** Returns the title of a step. */
export function titleOf(name: StepName): string {
  return (translation().doctor ?? vocabulary).steps[name];
}

/** Returns the remedy for a step's finding; null if there is nothing to do. */
export function hintOf(step: DiagnosisStep): string | null {
  return step.finding ? (translation().doctor ?? vocabulary).hints[step.finding] : null;
}

/** Where a diagnosis stopped. `device` is the device's label; null if it stopped before any device. */
export interface Stop {
  step: DiagnosisStep;
  device: string | null;
}

/** One path to a device: the steps for the device, and where it fails, if it does. */
export interface Walked {
  relayUrl: string;
  steps: DiagnosisStep[];
  /** Whether the relay itself failed, so that no step for the device was tried. */
  relayFailed: boolean;
  stop: DiagnosisStep | undefined;
}

export interface DevicePaths {
  id: string;
  label: string;
  /** The paths, the chosen relay's first. */
  paths: Walked[];
}

/** Returns every tested relay and listener, the chosen relay first. */
export function testedOf(state: DiagnosisState): PathDiagnosis[] {
  return [state, ...state.others];
}

/** Returns the devices, each with its paths. */
export function devicesOf(state: DiagnosisState): DevicePaths[] {
  const all = testedOf(state);
  const labels = new Map(all.flatMap(({ devices }) => devices.map(({ id, label }) => [id, label] as const)));
  return [...labels].map(([id, label]) => ({ id, label, paths: all.flatMap((path) => walked(path, id)) }));
}

function walked({ relayUrl, relay, devices }: PathDiagnosis, id: string): Walked[] {
  const failed = failureOf(relay);
  return devices
    .filter((device) => device.id === id)
    .map(({ steps }) => ({ relayUrl, steps, relayFailed: failed !== undefined, stop: failed ?? failureOf(steps) }));
}

export function isReached({ paths }: DevicePaths): boolean {
  return paths.some(({ stop }) => !stop);
}

/** Summarizes the paths to a device in one step, as the command line does; null if there is only one. */
export function sumOf({ paths }: DevicePaths): DiagnosisStep | null {
  const working = paths.filter(({ stop }) => !stop).length;
  const detail = t("connection.words.pathsWork", { working, all: paths.length });
  const step = { name: "paths", detail } as const;
  if (paths.length < 2) {
    return null;
  }
  if (working === 0) {
    return { ...step, status: "failed", finding: "paths_none" };
  }
  return working < paths.length ? { ...step, status: "warn", finding: "paths_partly" } : { ...step, status: "ok" };
}

/** Returns every failure that affects this browser: of the chosen relay, or of devices that no path reaches. */
export function stopsOf(state: DiagnosisState): Stop[] {
  const relay = failureOf(state.relay);
  if (relay) {
    return [{ step: relay, device: null }];
  }
  return devicesOf(state).flatMap((device) => {
    const step = device.paths[0]?.stop;
    return step && !isReached(device) ? [{ step, device: device.label }] : [];
  });
}

/** Reports whether anything is not OK. */
export function hasWarning(state: DiagnosisState): boolean {
  const steps = testedOf(state).flatMap(({ relay, devices }) => [...relay, ...devices.flatMap((each) => each.steps)]);
  return steps.some(({ status }) => status === "warn" || status === "failed");
}

/** Formats a duration: "3 ms", "1.2 s". */
export function tookOf(ms: number): string {
  return ms < 1000
    ? t("connection.words.milliseconds", { count: Math.round(ms) })
    : t("connection.words.seconds", { count: number(ms / 1000, 1) });
}

/** Returns the report as `scorel doctor` prints it, for sharing. */
export function reportOf(state: DiagnosisState): string {
  const lines = testedOf(state).flatMap(({ relayUrl, relay, devices }) => [
    relayUrl,
    ...relay.flatMap(lineOf),
    ...devices.flatMap(({ id, label, steps }) => [`"${label}" (${id})`, ...steps.flatMap(lineOf)]),
  ]);
  for (const device of devicesOf(state)) {
    const sum = sumOf(device);
    lines.push(...(sum ? [`"${device.label}" (${device.id})`, ...lineOf(sum)] : []));
  }
  return `${lines.join("\n")}\n`;
}

function lineOf(step: DiagnosisStep): string[] {
  const took = step.ms !== undefined && step.status !== "skipped" ? ` (${tookOf(step.ms)})` : "";
  const hint = hintOf(step);
  const line = `  ${step.status.padEnd(7)}  ${step.name.padEnd(8)}  ${step.detail}${took}`;
  return hint ? [line, `${" ".repeat(21)}${hint}`] : [line];
}
