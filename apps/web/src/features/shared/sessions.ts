import { type InfiniteData, type QueryClient, skipToken, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Host } from "../../api/contract";
import type { Requests, SessionSummary } from "../../api/types";
import { isRefusal } from "./errors";
import { hostKey } from "./host-keys";
import { useReadable } from "./scorel-context";

/** How many sessions are asked for at once. */
const pageSize = 50;

type Page = Requests["list_sessions"]["response"];
type Pages = InfiniteData<Page, unknown>;

export interface SessionList {
  /** Newest first, as far as they are here; null until the first are known. */
  sessions: SessionSummary[] | null;
  /** How many there are in all. */
  total: number;
  /** Whether there are more than are here; "loading" while they are on their way. */
  more: "none" | "some" | "loading";
  loadMore(): void;
}

/** The sessions of a project, a page at a time. */
export function useSessions(host: Host, projectId: string): SessionList {
  const status = useReadable(host.status);
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: hostKey(host.deviceId, "list_sessions", { projectId }),
    queryFn: ({ pageParam }) =>
      host.request("list_sessions", {
        projectId,
        limit: pageSize,
        // Who sees the list sees which session waits for a person, and can open it.
        watching: true,
        ...(pageParam ? { after: pageParam } : {}),
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next || undefined,
    enabled: status === "open" || status === "connecting",
    retry: (failures, error) => !isRefusal(error) && failures < 2,
  });
  const sessions = useMemo(() => (data ? merged(data, projectId) : null), [data, projectId]);
  return {
    sessions,
    total: Math.max(data?.pages.at(-1)?.total ?? 0, sessions?.length ?? 0),
    more: isFetchingNextPage ? "loading" : hasNextPage ? "some" : "none",
    loadMore: () => void fetchNextPage(),
  };
}

// One that changed between two pages is in both.
function merged({ pages }: Pages, projectId: string): SessionSummary[] {
  const byId = new Map<string, SessionSummary>();
  for (const session of pages.flatMap((page) => page.sessions)) {
    if (session.projectId === projectId && !byId.has(session.id)) byId.set(session.id, session);
  }
  return [...byId.values()].sort((a, b) => b.updatedAt - a.updatedAt);
}

/** Puts a session that was made or has changed into the lists. */
export function putSession(client: QueryClient, deviceId: string, session: SessionSummary): void {
  client.setQueryData([deviceId, "session", session.id], session);
  client.setQueryData([deviceId, "any_session"], (before: Page | undefined) => before && { sessions: [session] });
  const key = hostKey(deviceId, "list_sessions", { projectId: session.projectId });
  client.setQueryData(key, (before: Pages | undefined) => before && withSession(before, session));
}

/** Takes a session out of the lists. */
export function dropSession(client: QueryClient, deviceId: string, id: string): void {
  client.setQueriesData({ queryKey: [deviceId, "list_sessions"] }, (before: Pages | undefined) => {
    if (!before?.pages.some((page) => page.sessions.some((each) => each.id === id))) return before;
    return mapPages(before, (page) => ({
      ...page,
      sessions: page.sessions.filter((each) => each.id !== id),
      ...(page.total ? { total: page.total - 1 } : {}),
    }));
  });
}

/** The pages with the session replaced, or added at the front of what is newer than it. */
export function withSession(before: Pages, session: SessionSummary): Pages {
  const last = before.pages.at(-1);
  const known = before.pages.some((page) => page.sessions.some((each) => each.id === session.id));
  const oldest = last?.sessions.at(-1)?.updatedAt ?? 0;
  if (!known && last?.next && session.updatedAt < oldest) return before; // it comes with its page
  if (!known && session.parentSessionId) return before; // it is shown in the session that it belongs to
  const added = known || session.messageCount > 0 ? 0 : 1;
  return mapPages(before, (page, i) => {
    const others = page.sessions.filter((each) => each.id !== session.id);
    return {
      ...page,
      sessions: i === 0 ? [session, ...others] : others,
      ...(page.total === undefined ? {} : { total: page.total + added }),
    };
  });
}

function mapPages(before: Pages, change: (page: Page, i: number) => Page): Pages {
  return { ...before, pages: before.pages.map(change) };
}

/** What the machine told last of a session, since the channel was opened; null when it told nothing. */
export function useToldSession(deviceId: string, sessionId: string): SessionSummary | null {
  const { data } = useQuery<SessionSummary>({ queryKey: [deviceId, "session", sessionId], queryFn: skipToken });
  return data ?? null;
}

/** Whether there is any session on the machine. */
export function useAnySession(host: Host): boolean {
  const status = useReadable(host.status);
  const { data } = useQuery({
    queryKey: [host.deviceId, "any_session"],
    queryFn: () => host.request("list_sessions", { projectId: "", limit: 1 }),
    enabled: status === "open" || status === "connecting",
    retry: (failures, error) => !isRefusal(error) && failures < 2,
  });
  return (data?.sessions.length ?? 0) > 0;
}
