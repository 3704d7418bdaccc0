import type { ReactNode } from "react";
import type { DevicePath } from "../../api/contract";
import { Dot, type Tone } from "../../components/Badge";
import { t } from "../../i18n/paths";
import { rich } from "../../i18n/rich";
import { useReadable, useScorel } from "../shared/scorel-context";

const none: readonly DevicePath[] = [];

/** Returns the paths to a device; empty until this browser has used it. */
export function usePaths(deviceId: string): readonly DevicePath[] {
  return useReadable(useScorel().paths)[deviceId] ?? none;
}

type State = DevicePath["state"];

const tones: Record<State, Tone> = {
  used: "accent",
  ready: "neutral",
  absent: "neutral",
  connecting: "warn",
  refused: "danger",
  origin: "warn",
  unbound: "warn",
  revoked: "danger",
  insecure: "neutral",
  elsewhere: "neutral",
};

/** Returns the heading of the list. */
export function pathsTitle(machine: string): string {
  return t("paths.list.title", { machine });
}

export function PathsExplained() {
  return <p className="mt-1 text-muted text-sm">{t("paths.list.explanation")}</p>;
}

/** The paths to a device: state, round-trip time, and the remedy for each that does not work. */
export function PathList({ paths, machine }: { paths: readonly DevicePath[]; machine: string }) {
  return (
    <ul aria-label={pathsTitle(machine)} className="divide-y divide-line">
      {paths.map((path) => (
        <PathRow key={path.url} path={path} machine={machine} />
      ))}
    </ul>
  );
}

function PathRow({ path, machine }: { path: DevicePath; machine: string }) {
  const { kind, url, state, rtt } = path;
  const time = rtt === undefined ? null : Math.max(1, Math.round(rtt));
  const hint = hintOf(path, machine);
  return (
    <li data-testid="path" data-state={state} data-url={url} className="px-3.5 py-2.5 text-sm">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-medium">{kindOf(kind)}</span>
        <span className="inline-flex min-w-0 items-baseline gap-1.5 text-muted">
          <Dot tone={tones[state]} />
          <span className="[overflow-wrap:anywhere]">{stateOf(state, machine)}</span>
        </span>
        {time === null ? null : (
          <span className="caption ml-auto shrink-0 text-faint tabular-nums">
            <span aria-hidden="true">{t("paths.list.roundTrip", { time })}</span>
            <span className="sr-only">{t("paths.list.roundTripLabel", { time })}</span>
          </span>
        )}
      </p>
      <p className="break-all font-mono text-faint text-xs">{url}</p>
      {hint ? (
        <p data-testid="path-hint" className="mt-1 text-muted text-xs [overflow-wrap:anywhere]">
          {hint}
        </p>
      ) : null}
    </li>
  );
}

/** Returns the name of a path's kind. */
export function kindOf(kind: DevicePath["kind"]): string {
  switch (kind) {
    case "relay":
      return t("paths.kind.relay");
    case "network":
      return t("paths.kind.network");
    case "machine":
      return t("paths.kind.machine");
    default:
      return t("paths.kind.other");
  }
}

function stateOf(state: State, machine: string): string {
  switch (state) {
    case "used":
      return t("paths.state.used");
    case "ready":
      return t("paths.state.ready");
    case "absent":
      return t("paths.state.absent", { machine });
    case "connecting":
      return t("paths.state.connecting");
    case "refused":
      return t("paths.state.refused");
    case "origin":
      return t("paths.state.origin");
    case "unbound":
      return t("paths.state.unbound");
    case "revoked":
      return t("paths.state.revoked");
    case "insecure":
      return t("paths.state.insecure");
    case "elsewhere":
      return t("paths.state.elsewhere");
  }
}

/** Returns the remedy for a path, or its relay's message; null if there is none. */
function hintOf({ state, detail }: DevicePath, machine: string): ReactNode {
  switch (state) {
    case "origin":
      return rich((values) => t("paths.hint.origin", values), {
        machine,
        origin: <code className="font-mono">{location.origin}</code>,
        setting: <code className="font-mono">allowed_origins</code>,
      });
    case "unbound":
      return detail ?? t("paths.hint.unbound", { machine });
    case "revoked":
      return t("paths.hint.revoked", { machine });
    case "insecure":
      return t("paths.hint.insecure");
    case "elsewhere":
      return t("paths.hint.elsewhere", { machine });
    default:
      return detail ?? null;
  }
}
