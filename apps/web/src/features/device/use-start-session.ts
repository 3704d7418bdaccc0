import { useNavigate } from "@tanstack/react-router";
import type { Host } from "../../api/contract";

/** Leads to where a session begins in a project, as one of its agents where that was chosen. */
export function useStartSession({ deviceId }: Host) {
  const navigate = useNavigate();
  return (projectId: string, agent?: string) => {
    const search = { project: projectId, ...(agent ? { agent } : {}) };
    void navigate({ to: "/d/$deviceId/new", params: { deviceId }, search });
  };
}
