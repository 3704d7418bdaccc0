import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Host } from "../../../api/contract";
import { isRefusal } from "../../shared/errors";
import type { OpenSession } from "../context/use-session";
import { branchMark, placesAmong, type Version, versionsAt } from "../context/versions";

/**
 * Returns the messages that have several versions, by id. If a part of the log is not loaded, the host knows them; from
 * a host that does not answer they are those of the loaded entries.
 */
export function useVersions(host: Host, { state, view }: OpenSession): ReadonlyMap<string, Version> {
  const { entries } = state;
  const { sessionId } = view;
  const partial = state.earlier !== "none";
  const mark = useMemo(() => branchMark(entries), [entries]);
  const { data } = useQuery({
    queryKey: [host.deviceId, "list_versions", sessionId, mark],
    queryFn: () => host.request("list_versions", { sessionId }),
    enabled: partial && state.status === "live",
    retry: (failures, error) => !isRefusal(error) && failures < 2,
    placeholderData: keepPreviousData,
  });
  const answered = partial ? data?.places : undefined;
  const loaded = useMemo(() => (answered ? null : placesAmong(entries)), [answered, entries]);
  return useMemo(() => versionsAt(answered ?? loaded ?? []), [answered, loaded]);
}
