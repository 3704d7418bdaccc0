import { useQueries } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useSyncExternalStore } from "react";
import type { Device, Host, HostStatus } from "../../api/contract";
import type { Requests, SessionSummary } from "../../api/types";
import { isRefusal } from "../shared/errors";
import { hostKey } from "../shared/host-keys";
import { useReadable, useScorel } from "../shared/scorel-context";
import { isUnread, seen } from "../shared/seen";
import { allSessionsKey } from "../shared/sessions";
import { type Item, needsYou } from "./sections";

/** How many sessions of a machine the inbox has; a host returns no more at once. */
export const most = 500;

export interface Machine {
  device: Device;
  host: Host;
  status: HostStatus;
  /** null until known. */
  sessions: SessionSummary[] | null;
  /** How many more sessions the host has. */
  older: number;
  /** Why the sessions could not be loaded. */
  error: Error | null;
  retry: () => void;
}

/** Returns the machines that this browser may use; null until known. */
function useUsable(): Device[] | null {
  const devices = useReadable(useScorel().devices);
  return useMemo(() => devices?.filter(({ revoked, problem }) => !revoked && !problem) ?? null, [devices]);
}

function useStatuses(hosts: readonly Host[]): HostStatus[] {
  const subscribe = useCallback(
    (listener: () => void) => {
      const stops = hosts.map((host) => host.status.subscribe(listener));
      return () => {
        for (const stop of stops) {
          stop();
        }
      };
    },
    [hosts],
  );
  const all = useSyncExternalStore(subscribe, () => hosts.map((host) => host.status.get()).join(" "));
  return useMemo(() => (all === "" ? [] : (all.split(" ") as HostStatus[])), [all]);
}

interface Reached {
  devices: Device[] | null;
  hosts: Host[];
  statuses: HostStatus[];
}

function useReached(): Reached {
  const scorel = useScorel();
  const devices = useUsable();
  const ids = devices?.map(({ id }) => id).join(" ") ?? "";
  const hosts = useMemo(() => (ids === "" ? [] : ids.split(" ").map((id) => scorel.host(id))), [ids, scorel]);
  return { devices, hosts, statuses: useStatuses(hosts) };
}

/** Returns all machines with their archived or other sessions; null until the machines are known. */
export function useMachines(archived = false): Machine[] | null {
  const { devices, hosts, statuses } = useReached();
  const results = useQueries({
    queries: hosts.map((host, i) => ({
      queryKey: allSessionsKey(host.deviceId, archived),
      queryFn: () =>
        host.request("list_sessions", {
          limit: most,
          ...(archived ? { archived: "only" } : {}),
          // A person who sees the inbox sees what waits, and can answer.
          watching: true,
        }),
      enabled: statuses[i] === "open" || statuses[i] === "connecting",
      retry: (failures: number, error: Error) => !isRefusal(error) && failures < 2,
    })),
  });
  if (!devices) {
    return null;
  }
  return hosts.flatMap((host, i) => {
    const device = devices[i];
    const result = results[i];
    const status = statuses[i];
    if (!device || !result || !status) {
      return [];
    }
    const { data, error, refetch } = result;
    const sessions = data?.sessions.filter(({ parentSessionId }) => !parentSessionId) ?? null;
    const older = Math.max(0, (data?.total ?? 0) - (data?.sessions.length ?? 0));
    return [{ ...{ device, host, status, sessions, older }, error: data ? null : error, retry: () => void refetch() }];
  });
}

/** Returns the answers of all machines to a request, by machine. */
export function useEachAnswer<K extends "list_projects" | "get_host">(name: K) {
  const { hosts, statuses } = useReached();
  const results = useQueries({
    queries: hosts.map((host, i) => ({
      queryKey: hostKey(host.deviceId, name, {}),
      queryFn: (): Promise<Requests[K]["response"]> => host.request(name, {}),
      enabled: statuses[i] === "open" || statuses[i] === "connecting",
      retry: (failures: number, error: Error) => !isRefusal(error) && failures < 2,
    })),
  });
  return new Map(hosts.map((host, i) => [host.deviceId, results[i]?.data as Requests[K]["response"] | undefined]));
}

/** Returns the sessions of all machines, each with its machine and project. */
export function itemsOf(
  machines: readonly Machine[],
  marks: ReturnType<typeof seen.state.get>,
  projects?: ReadonlyMap<string, Requests["list_projects"]["response"] | undefined>,
): Item[] {
  const reached = reachedSessions(machines);
  return machines.flatMap(({ device, host, status, sessions }) =>
    (sessions ?? [])
      .filter(({ id }) => status === "open" || !reached.has(id))
      .map((session) => ({
        ...{ device, host, session },
        id: `${device.id}/${session.id}`,
        reachable: status === "open",
        project: projects?.get(device.id)?.projects.find(({ id }) => id === session.projectId),
        unread: !session.running && !needsYou(session) && isUnread(marks, device.id, session),
      })),
  );
}

/**
 * Returns the sessions of reachable machines. A moved session is also listed by its former machine, if that cannot be
 * reached to report the move.
 */
function reachedSessions(machines: readonly Machine[]): Set<string> {
  const reached = machines.filter(({ status }) => status === "open");
  return new Set(reached.flatMap(({ sessions }) => (sessions ?? []).map(({ id }) => id)));
}

/** Returns what this browser has seen; machines that are new to it start as seen. */
export function useSeen(machines: readonly Machine[] | null) {
  useEffect(() => seen.listen(), []);
  useEffect(() => {
    for (const { device, sessions } of machines ?? []) {
      if (sessions) {
        seen.begin(device.id, sessions);
      }
    }
  }, [machines]);
  return useReadable(seen.state);
}
