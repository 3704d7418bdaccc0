import { useQueryClient } from "@tanstack/react-query";
import type { Host } from "../../api/contract";
import type { Requests } from "../../api/types";
import { putSession } from "../shared/sessions";

/** Changes the listed properties of a session. The answer is shown before the event that notifies all clients. */
export function useUpdateSession(host: Host, sessionId: string) {
  const client = useQueryClient();
  return async (fields: Omit<Requests["update_session"]["request"], "sessionId">) => {
    const { session } = await host.request("update_session", { sessionId, ...fields });
    putSession(client, host.deviceId, session);
    return session;
  };
}
