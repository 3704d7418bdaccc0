import { type InfiniteData, type QueryClient, skipToken, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Host } from "../../api/contract";
import type { Requests, SessionSummary } from "../../api/types";
import { isRefusal } from "./errors";
import { hostKey } from "./host-keys";
import { useRecalled } from "./recall";
import { useReadable } from "./scorel-context";

/** How many sessions are requested at once. */
const pageSize = 50;

type Page = Requests["list_sessions"]["response"];
type Pages = InfiniteData<Page, unknown>;

export interface SessionList {
  /** The loaded sessions, pinned ones first, then the newest; null until the first are known. */
  sessions: SessionSummary[] | null;
  /** The number of all sessions. */
  total: number;
  /** Whether there are more than the loaded ones; "loading" while they are being fetched. */
  more: "none" | "some" | "loading";
  loadMore(): void;
}

/** Returns the request for the sessions of a project: archived or other ones. */
function listFields(projectId: string, archived: boolean) {
  return { projectId, ...(archived ? { archived: "only" } : {}) };
}

/** The sessions of a project, a page at a time: archived or other ones. */
export function useSessions(host: Host, projectId: string, archived = false): SessionList {
  const status = useReadable(host.status);
  const fields = { ...listFields(projectId, archived), limit: pageSize };
  const queryKey = hostKey(host.deviceId, "list_sessions", listFields(projectId, archived));
  useRecalled(host, queryKey, "list_sessions", fields, firstPage);
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) =>
      host.request("list_sessions", {
        ...fields,
        // A person who sees the list sees which session waits, and can open it.
        watching: true,
        ...(pageParam ? { after: pageParam } : {}),
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next || undefined,
    enabled: status === "open" || status === "connecting",
    retry: (failures, error) => !isRefusal(error) && failures < 2,
  });
  const sessions = useMemo(() => (data ? merged(data, projectId, archived) : null), [data, projectId, archived]);
  return {
    sessions,
    total: Math.max(data?.pages.at(-1)?.total ?? 0, sessions?.length ?? 0),
    more: isFetchingNextPage ? "loading" : hasNextPage ? "some" : "none",
    loadMore: () => void fetchNextPage(),
  };
}

/** Returns the pages of a list with only the first one loaded. */
function firstPage(page: Page): Pages {
  return { pages: [page], pageParams: [""] };
}

// Merges the pages. A session that changed between two pages is in both. A host without an archive lists all of them.
function merged({ pages }: Pages, projectId: string, archived: boolean): SessionSummary[] {
  const byId = new Map<string, SessionSummary>();
  for (const session of pages.flatMap((page) => page.sessions)) {
    const belongs = session.projectId === projectId && (session.archived ?? false) === archived;
    if (belongs && !byId.has(session.id)) {
      byId.set(session.id, session);
    }
  }
  return [...byId.values()].sort(byPlace);
}

/** Orders a list as the host does: pinned sessions first, then the newest. */
function byPlace(a: SessionSummary, b: SessionSummary): number {
  return Number(b.pinned ?? false) - Number(a.pinned ?? false) || b.updatedAt - a.updatedAt;
}

/** Returns the key of the sessions of all projects of a machine: archived or other ones. */
export function allSessionsKey(deviceId: string, archived: boolean) {
  return [deviceId, "all_sessions", archived] as const;
}

/** Adds a new session to the lists, or replaces a changed one. */
export function putSession(client: QueryClient, deviceId: string, session: SessionSummary): void {
  client.setQueryData([deviceId, "session", session.id], session);
  client.setQueryData([deviceId, "any_session"], (before: Page | undefined) => before && { sessions: [session] });
  for (const archived of [false, true]) {
    const key = hostKey(deviceId, "list_sessions", listFields(session.projectId, archived));
    client.setQueryData(key, (before: Pages | undefined) => before && withSession(before, session, archived));
    client.setQueryData(allSessionsKey(deviceId, archived), (before: Page | undefined) => {
      const pages = before && withSession({ pages: [before], pageParams: [] }, session, archived);
      return pages?.pages[0];
    });
  }
}

/** Removes a session from the lists. */
export function dropSession(client: QueryClient, deviceId: string, id: string): void {
  client.setQueriesData(
    { queryKey: [deviceId, "list_sessions"] },
    (before: Pages | undefined) => before && withoutSession(before, id),
  );
  client.setQueriesData(
    { queryKey: [deviceId, "all_sessions"] },
    (before: Page | undefined) => before && withoutSession({ pages: [before], pageParams: [] }, id).pages[0],
  );
}

/**
 * Returns the pages of a list, of archived sessions or of the others, after a session has changed. It is replaced or
 * added in its place, and removed if it was archived or restored.
 */
export function withSession(before: Pages, session: SessionSummary, archived = false): Pages {
  if ((session.archived ?? false) !== archived) {
    return withoutSession(before, session.id);
  }
  const last = before.pages.at(-1);
  const known = isIn(before, session.id);
  const oldest = last?.sessions.at(-1);
  if (!known && last?.next && oldest && byPlace(session, oldest) > 0) {
    return before; // it will be loaded with its page
  }
  if (!known && session.parentSessionId) {
    return before; // it is shown in its parent session
  }
  // A session that is not loaded may be on an unloaded page, unless all pages are loaded.
  const added = known || (last?.next && session.messageCount > 0) ? 0 : 1;
  return mapPages(before, (page, i) => {
    const others = page.sessions.filter((each) => each.id !== session.id);
    return {
      ...page,
      sessions: i === 0 ? [session, ...others] : others,
      ...(page.total === undefined ? {} : { total: page.total + added }),
    };
  });
}

function withoutSession(before: Pages, id: string): Pages {
  if (!isIn(before, id)) {
    return before;
  }
  return mapPages(before, (page) => ({
    ...page,
    sessions: page.sessions.filter((each) => each.id !== id),
    ...(page.total ? { total: page.total - 1 } : {}),
  }));
}

function isIn(pages: Pages, id: string): boolean {
  return pages.pages.some((page) => page.sessions.some((each) => each.id === id));
}

function mapPages(before: Pages, change: (page: Page, i: number) => Page): Pages {
  return { ...before, pages: before.pages.map(change) };
}

/** Returns the last summary of a session that the host sent since the channel was opened; null if it sent none. */
export function useToldSession(deviceId: string, sessionId: string): SessionSummary | null {
  const { data } = useQuery<SessionSummary>({ queryKey: [deviceId, "session", sessionId], queryFn: skipToken });
  return data ?? null;
}

/** Reports whether there is any session on the machine. */
export function useAnySession(host: Host): boolean {
  const status = useReadable(host.status);
  const queryKey = [host.deviceId, "any_session"];
  const fields = { projectId: "", archived: "too", limit: 1 };
  useRecalled(host, queryKey, "list_sessions", fields);
  const { data } = useQuery({
    queryKey,
    queryFn: () => host.request("list_sessions", fields),
    enabled: status === "open" || status === "connecting",
    retry: (failures, error) => !isRefusal(error) && failures < 2,
  });
  return (data?.sessions.length ?? 0) > 0;
}
