// Scenes of the paths to a machine: each state of a path, and one that took over.
import type { DevicePath } from "../src/api/contract";
import type { DiagnosisState } from "../src/api/diagnosis";
import { diagnoses } from "./diagnoses";
import { dev, type Scene, world } from "./world";

const everyState: DevicePath[] = [
  { kind: "relay", url: "https://relay.example", state: "used", rtt: 23.4 },
  { kind: "relay", url: "https://eu.relay.example", state: "ready", rtt: 81 },
  { kind: "relay", url: "https://backup.relay.example", state: "absent", rtt: 140 },
  { kind: "relay", url: "https://relay.intern.example", state: "origin" },
  {
    kind: "relay",
    url: "https://new.relay.example",
    state: "refused",
    detail: "This relay admits new ids by invite only.",
  },
  { kind: "relay", url: "https://old.relay.example", state: "unbound" },
  { kind: "relay", url: "https://mallory.example", state: "revoked" },
  {
    kind: "relay",
    url: "https://down.relay.example",
    state: "connecting",
    detail: "The relay at https://down.relay.example cannot be reached.",
  },
  { kind: "network", url: "http://192.168.1.20:7411", state: "insecure" },
  { kind: "machine", url: "http://127.0.0.1:7410", state: "elsewhere" },
];

const tookOver: DevicePath[] = [
  {
    kind: "relay",
    url: "https://relay.example",
    state: "connecting",
    detail: "The relay at https://relay.example cannot be reached.",
  },
  { kind: "relay", url: "https://eu.relay.example", state: "used", rtt: 81 },
];

export const pathScenes: Record<string, () => Scene> = {
  paths: () => {
    const scorel = world();
    scorel.paths.set({ [dev]: everyState });
    return { scorel, path: `/d/${dev}` };
  },
  connectionpaths: () => {
    const scorel = world();
    const chosen = diagnoses.connectiondown as DiagnosisState;
    const { relay, devices } = diagnoses.connection as DiagnosisState;
    const [first] = devices;
    const other = { relayUrl: "https://eu.relay.example", relay: relay.slice(2), devices: first ? [first] : [] };
    scorel.diagnosis = { ...chosen, devices: chosen.devices.slice(0, 1), others: [other] };
    scorel.paths.set({ [dev]: tookOver });
    return { scorel, path: "/connection" };
  },
};
