import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Host } from "../../api/contract";
import type { Event, Requests } from "../../api/types";
import { t } from "../../i18n/shared";
import { isRefusal } from "./errors";
import { hostKey } from "./host-keys";
import { useRecalled } from "./recall";
import { useReadable, useScorel } from "./scorel-context";
import { dropSession, putSession } from "./sessions";

export { hostKey } from "./host-keys";

type Name = keyof Requests;

/** Returns the host of a device, the same object for the same id. */
export function useHost(deviceId: string): Host {
  return useScorel().host(deviceId);
}

/** A query of the host. It runs while the channel is open; earlier answers stay visible. */
export function useHostQuery<K extends Name>(host: Host, name: K, fields: Requests[K]["request"]) {
  const status = useReadable(host.status);
  const queryKey = hostKey(host.deviceId, name, fields);
  useRecalled(host, queryKey, name, fields);
  return useQuery({
    queryKey,
    queryFn: (): Promise<Requests[K]["response"]> => host.request(name, fields),
    enabled: status === "open" || status === "connecting",
    retry: (failures, error) => !isRefusal(error) && failures < 2,
  });
}

/** Updates the answers of one host by its events, and reloads all of them when the channel is back. */
export function useHostFreshness(host: Host): void {
  const client = useQueryClient();
  useEffect(() => host.onEvent((event) => applyHostEvent(client, host.deviceId, event)), [client, host]);
  useEffect(() => {
    // Notified of every change, not only of rendered ones: a channel that was replaced at once goes from open to open,
    // and events were missed between.
    let before = host.status.get();
    return host.status.subscribe(() => {
      const now = host.status.get();
      if (now === "open" && before !== "open") {
        client.removeQueries({ queryKey: [host.deviceId, "session"] });
        client.removeQueries({ queryKey: [host.deviceId, "saved"] });
        void client.invalidateQueries({ queryKey: [host.deviceId] });
      }
      before = now;
    });
  }, [client, host]);
}

/** Applies a host event to the cache. */
export function applyHostEvent(client: QueryClient, deviceId: string, event: Event): void {
  switch (event.type) {
    case "projects_changed":
      client.setQueryData(hostKey(deviceId, "list_projects", {}), { projects: event.projects });
      return;
    case "session_updated":
      putSession(client, deviceId, event.session);
      return;
    case "session_deleted":
      dropSession(client, deviceId, event.id);
      return;
    case "rules_changed":
      void client.invalidateQueries({ queryKey: [deviceId, "list_rules"] });
      return;
    case "models_changed":
      void client.invalidateQueries({ queryKey: [deviceId, "get_host"] });
      void client.invalidateQueries({ queryKey: [deviceId, "list_providers"] });
      return;
    case "agents_changed":
      void client.invalidateQueries({ queryKey: [deviceId, "list_agents"] });
      void client.invalidateQueries({ queryKey: [deviceId, "preview_agent"] });
      return;
    case "skills_changed":
      void client.invalidateQueries({ queryKey: [deviceId, "list_skills"] });
      return;
    case "memory_changed":
      void client.invalidateQueries({ queryKey: [deviceId, "list_memory"] });
      void client.invalidateQueries({ queryKey: [deviceId, "get_memory_note"] });
      return;
    case "mcp_servers_changed":
      void client.invalidateQueries({ queryKey: [deviceId, "list_mcp_servers"] });
      void client.invalidateQueries({ queryKey: [deviceId, "list_mcp_offers"] });
      return;
    case "hooks_changed":
      void client.invalidateQueries({ queryKey: [deviceId, "list_hooks"] });
      return;
    case "schedules_changed":
      void client.invalidateQueries({ queryKey: [deviceId, "list_schedules"] });
      return;
    case "extensions_changed":
      void client.invalidateQueries({ queryKey: [deviceId, "list_extensions"] });
      return;
    case "channels_changed":
      void client.invalidateQueries({ queryKey: [deviceId, "list_channels"] });
      return;
    case "clients_changed":
      void client.invalidateQueries({ queryKey: [deviceId, "list_clients"] });
      // The grants of this browser may have changed too.
      void client.invalidateQueries({ queryKey: [deviceId, "get_host"] });
      void client.invalidateQueries({ queryKey: [deviceId, "list_backends"] });
      void client.invalidateQueries({ queryKey: [deviceId, "list_terminals"] });
      return;
    default:
      return; // an event of a session, or of a newer host
  }
}

/** Returns a function that names client ids: "this browser", the label that the host knows, or "another device". */
export function useClientNames(host: Host): (clientId: string | undefined) => string {
  const me = useReadable(useScorel().me);
  const { data } = useHostQuery(host, "list_clients", {});
  return (clientId) => {
    if (clientId === "host") {
      return t("shared.hostQueries.theMachineItself");
    }
    if (clientId && clientId === me?.id) {
      return t("shared.hostQueries.thisBrowser");
    }
    return data?.clients.find((client) => client.id === clientId)?.label ?? t("shared.hostQueries.anotherDevice");
  };
}
