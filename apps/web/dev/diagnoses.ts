import type { DiagnosisState, DiagnosisStep, Finding, StepName } from "../src/api/diagnosis";
import { skipRest, waiting } from "../src/api/diagnosis";

const relay = ["page", "network", "relay", "login", "clock"] as const;
const device = ["binding", "presence", "channel", "seal", "api"] as const;

const details: Partial<Record<StepName, string>> = {
  page: "loaded from https://relay.example, and current",
  network: "answered by scorel 0.1.0",
  relay: "protocol version 1",
  login: "as cli_q7k3m9xr2btd5h8v4wzc6n1e",
  clock: "within 1s",
  binding: 'known to the relay as "workshop"',
  presence: "the machine is connected to the relay",
  channel: "opened",
  seal: "both sides hold the paired keys",
  api: "scorel 0.1.0, round trip 38.4 ms",
};

interface Stop {
  at: StepName;
  finding: Finding;
  detail: string;
  status?: "failed" | "warn";
}

function steps(names: readonly StepName[], stop?: Stop): DiagnosisStep[] {
  const all: DiagnosisStep[] = waiting(names);
  for (const [i, name] of names.entries()) {
    if (name === stop?.at) {
      const { finding, detail, status = "failed" } = stop;
      all[i] = { name, status, finding, detail, ms: 2012 };
      if (status === "failed") {
        return skipRest(all, `not tried, for ${name} failed`);
      }
    } else {
      all[i] = { name, status: "ok", detail: details[name] ?? "", ms: 3 + 17 * i };
    }
  }
  return all;
}

const names: [string, string][] = [
  ["dev_k7w2mxqj4rr6h3vthz5a2n8e", "workshop"],
  ["dev_a8s0v5nmq3zzjd7ek1hxr6tc", "old-laptop"],
];

function diagnosis(ofRelay: Stop | undefined, ofDevices: (Stop | undefined)[]): DiagnosisState {
  const first = steps(relay, ofRelay);
  const stopped = ofRelay && ofRelay.status !== "warn" ? ofRelay.at : null;
  return {
    relayUrl: "https://relay.example",
    relay: first,
    devices: names.map(([id, label], i) => ({
      id,
      label,
      steps: stopped ? skipRest(waiting(device), `not tried, for ${stopped} failed`) : steps(device, ofDevices[i]),
    })),
    others: [],
    done: true,
  };
}

/** Diagnoses to view, by the name of the scene. */
export const diagnoses: Record<string, DiagnosisState> = {
  connection: diagnosis(undefined, []),
  connectionoffline: diagnosis(undefined, [
    undefined,
    { at: "presence", finding: "presence_offline", detail: "the machine is not connected to the relay" },
  ]),
  connectiondown: diagnosis(
    { at: "network", finding: "network_failed", detail: "the browser got no answer, and gives no reason" },
    [],
  ),
  connectionwarn: diagnosis(
    {
      at: "clock",
      finding: "clock_skew",
      detail: "this machine's clock is 5m12s behind the relay's",
      status: "warn",
    },
    [],
  ),
  connectionrunning: {
    ...diagnosis(undefined, []),
    relay: [
      ...steps(["page", "network"]),
      { name: "relay", status: "running", detail: "" },
      ...waiting(["login", "clock"]),
    ],
    devices: names.map(([id, label]) => ({ id, label, steps: waiting(device) })),
    done: false,
  },
};
