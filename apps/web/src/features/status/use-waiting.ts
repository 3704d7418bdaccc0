import { useMemo } from "react";
import type { WaitingPrompt } from "../../api/contract";
import { useReadable, useScorel } from "../shared/scorel-context";

/** The prompts that wait in this browser for a device, or for one of its sessions. */
export function useWaiting(deviceId: string, sessionId?: string): WaitingPrompt[] {
  const all = useReadable(useScorel().waiting);
  return useMemo(
    () => all.filter((each) => each.deviceId === deviceId && (sessionId === undefined || each.sessionId === sessionId)),
    [all, deviceId, sessionId],
  );
}
