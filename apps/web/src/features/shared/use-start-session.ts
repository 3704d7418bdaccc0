import type { Host } from "../../api/contract";
import { address } from "../route/address";
import { navigate } from "../route/history";

/** Opens the page of a new session in a project, with the chosen agent if there is one. */
export function useStartSession({ deviceId }: Host) {
  return (projectId: string, agent?: string) => {
    const search = { project: projectId, ...(agent ? { agent } : {}) };
    navigate(address.newSession(deviceId, search));
  };
}
