import { type QueryKey, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Host } from "../../api/contract";
import { KEPT } from "../../api/copies";
import type { Requests } from "../../api/types";
import { useReadable } from "./scorel-context";

/** Returns the key for the time at which the copies of a device were saved. */
const savedKey = (deviceId: string) => [deviceId, "saved"];

/**
 * Shows this browser's copy of an answer until the host has answered. `shape` converts it to the cached form. The host
 * is queried all the same: when its channel opens, all of its answers are loaded again.
 */
export function useRecalled<K extends keyof Requests>(
  host: Host,
  queryKey: QueryKey,
  name: K,
  fields: Requests[K]["request"],
  shape: (answer: Requests[K]["response"]) => unknown = (answer) => answer,
): void {
  const client = useQueryClient();
  const hash = JSON.stringify(queryKey);
  const latest = useRef({ queryKey, fields, shape });
  latest.current = { queryKey, fields, shape };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key identifies the request
  useEffect(() => {
    const { queryKey: key, fields: asked, shape: shaped } = latest.current;
    if (!KEPT.includes(name) || client.getQueryData(key) !== undefined || host.status.get() === "open") {
      return;
    }
    void host.recall(name, asked).then(
      (saved) => {
        if (saved && client.getQueryData(key) === undefined && host.status.get() !== "open") {
          client.setQueryData(key, shaped(saved.value));
          client.setQueryData(savedKey(host.deviceId), saved.savedAt);
        }
      },
      () => {},
    );
  }, [client, host, name, hash]);
}

/** Returns when the shown data of a device was saved, in Unix milliseconds; null if it is not a saved copy. */
export function useSavedAt(host: Host): number | null {
  const { data } = useQuery<number>({ queryKey: savedKey(host.deviceId), queryFn: skipToken });
  return useReadable(host.status) === "open" ? null : (data ?? null);
}
