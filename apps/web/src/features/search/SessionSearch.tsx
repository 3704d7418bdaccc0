import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Host } from "../../api/contract";
import { t } from "../../i18n/search";
import { isRefusal } from "../shared/errors";
import { hostKey } from "../shared/host-queries";
import { useKeptState } from "../shared/kept";
import { useReadable } from "../shared/scorel-context";
import { withHelp } from "../shared/with-help";
import { HitList } from "./HitList";
import { askAgain, isSearch, type Search, searchPages, usePages, whileTyping } from "./query";
import { SearchField } from "./SearchField";

/** The pause in typing before a search begins, in milliseconds. */
const pause = 180;

/** Returns the text after a pause in typing. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pause);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Searches the sessions of a host for a text while it is typed. */
export function useSearch(host: Host, text: string): Search {
  const settled = useSettled(text);
  const open = useReadable(host.status) === "open";
  const asked = isSearch(settled) && isSearch(text);
  const fields = { query: whileTyping(settled), limit: 30 };
  const [pages, onOlder] = usePages(settled);
  const { data, error, isFetching } = useQuery({
    queryKey: [...hostKey(host.deviceId, "search_sessions", fields), pages],
    queryFn: () => searchPages(host, fields, pages),
    enabled: asked && open,
    placeholderData: keepPreviousData,
    staleTime: 2_000,
    refetchInterval: ({ state }) => askAgain(state.data),
    retry: (failures, cause) => !isRefusal(cause) && failures < 2,
  });
  return {
    found: asked ? (data ?? null) : null,
    error: asked && !open ? t("search.sessionSearch.offline") : error ? withHelp(error) : null,
    busy: isFetching || (open && text !== settled && isSearch(text)),
    onOlder: data?.more ? onOlder : undefined,
  };
}

export interface SessionSearchProps {
  host: Host;
  /** In the sidebar: shows less of each hit. */
  compact?: boolean;
  /** Shown while there is no search. */
  children: React.ReactNode;
}

/** A search over all sessions of a device. The results replace its children. */
export function SessionSearch({ host, compact = false, children }: SessionSearchProps) {
  const [text, setText] = useKeptState(`search ${host.deviceId} ${compact}`, "");
  const { found, error, busy, onOlder } = useSearch(host, text);
  const { deviceId } = host;
  const hits = found?.hits.map((hit) => ({ deviceId, hit })) ?? null;
  return (
    <>
      <SearchField text={text} onText={setText} busy={busy} {...(compact ? { className: "mb-2" } : {})} />
      {isSearch(text) ? (
        <HitList found={{ hits, text, behind: found?.behind ?? 0, error, busy, onOlder }} compact={compact} />
      ) : (
        children
      )}
    </>
  );
}
