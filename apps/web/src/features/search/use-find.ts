import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Host } from "../../api/contract";
import { MAX_SESSION_HITS, type SearchHit } from "../../api/types";
import { t } from "../../i18n/search";
import { isRefusal } from "../shared/errors";
import { hostKey } from "../shared/host-keys";
import { useReadable } from "../shared/scorel-context";
import { withHelp } from "../shared/with-help";
import { isSearch, whileTyping } from "./query";
import { useSettled } from "./SessionSearch";

export interface Find {
  /** The matches in the order of the session; null until known. */
  hits: SearchHit[] | null;
  /** Whether there are more before these. */
  more: boolean;
  error: ReactNode;
  busy: boolean;
}

/** Finds a text in one session while it is typed. */
export function useFind(host: Host, sessionId: string, text: string): Find {
  const settled = useSettled(text);
  const open = useReadable(host.status) === "open";
  const asked = isSearch(settled) && isSearch(text);
  const fields = { query: whileTyping(settled), sessionId, limit: MAX_SESSION_HITS };
  const { data, error, isFetching } = useQuery({
    queryKey: hostKey(host.deviceId, "search_sessions", fields),
    queryFn: () => host.request("search_sessions", fields),
    enabled: asked && open,
    placeholderData: keepPreviousData,
    staleTime: 2_000,
    retry: (failures, cause) => !isRefusal(cause) && failures < 2,
  });
  const found = asked ? data : undefined;
  // A host that cannot search one session returns hits of all, without a count.
  const old = found !== undefined && found.hits.length > 0 && found.total === undefined;
  // A name is not part of the transcript.
  const hits = found?.hits.filter(({ role }) => role !== "name").reverse() ?? null;
  return {
    hits: old ? null : hits,
    more: (found?.total ?? 0) > (found?.hits.length ?? 0),
    error: !asked
      ? null
      : old
        ? t("search.findBar.tooOld")
        : open
          ? error && withHelp(error)
          : t("search.sessionSearch.offline"),
    busy: isFetching || (open && text !== settled && isSearch(text)),
  };
}
