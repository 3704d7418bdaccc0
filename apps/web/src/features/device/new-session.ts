import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { Host } from "../../api/contract";
import { useToast } from "../../components/Toast";
import { sentence } from "../shared/errors";

/** Makes a session and goes there. A second try after a lost answer carries the same key, so it makes no second one. */
export function useNewSession(host: Host) {
  const navigate = useNavigate();
  const toast = useToast();
  const [busyProject, setBusyProject] = useState<string | null>(null);
  const keys = useRef(new Map<string, string>());

  const create = async (projectId: string, model?: string) => {
    const clientKey = keys.current.get(projectId) ?? crypto.randomUUID();
    keys.current.set(projectId, clientKey);
    setBusyProject(projectId);
    try {
      const { session } = await host.request("create_session", { projectId, clientKey, ...(model ? { model } : {}) });
      keys.current.delete(projectId);
      await navigate({ to: "/d/$deviceId/s/$sessionId", params: { deviceId: host.deviceId, sessionId: session.id } });
    } catch (cause) {
      toast(sentence(cause));
    } finally {
      setBusyProject(null);
    }
  };
  return { create, busyProject };
}
