import { useNavigate } from "@tanstack/react-router";
import type { Host } from "../../api/contract";

/** Opens the page of a new session in a project, with the chosen agent if there is one. */
export function useStartSession({ deviceId }: Host) {
  const navigate = useNavigate();
  return (projectId: string, agent?: string) => {
    const search = { project: projectId, ...(agent ? { agent } : {}) };
    void navigate({ to: "/d/$deviceId/new", params: { deviceId }, search });
  };
}
