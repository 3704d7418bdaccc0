import { type InfiniteData, type QueryClient, skipToken, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Host } from "../../api/contract";
import type { Requests, SessionSummary } from "../../api/types";
import { isRefusal } from "./errors";
import { hostKey } from "./host-keys";
import { useRecalled } from "./recall";
import { useReadable } from "./scorel-context";

/** How many sessions are asked for at once. */
const pageSize = 50;

type Page = Requests["list_sessions"]["response"];
type Pages = InfiniteData<Page, unknown>;

export interface SessionList {
  /** Pinned ones first, then the newest, as far as they are here; null until the first are known. */
  sessions: SessionSummary[] | null;
  /** How many there are in all. */
  total: number;
  /** Whether there are more than are here; "loading" while they are on their way. */
  more: "none" | "some" | "loading";
  loadMore(): void;
}

/** What asks for the sessions of a project: those that are archived, or those that are not. */
function listFields(projectId: string, archived: boolean) {
  return { projectId, ...(archived ? { archived: "only" } : {}) };
}

/** The sessions of a project, a page at a time: those that are archived, or those that are not. */
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
        // Who sees the list sees which session waits for a person, and can open it.
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

/** The pages of a list of which only the first is known. */
function firstPage(page: Page): Pages {
  return { pages: [page], pageParams: [""] };
}

// One that changed between two pages is in both. A host that knows no archive lists all of them.
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

/** The order of a list, as the host has it: pinned sessions first, then the newest. */
function byPlace(a: SessionSummary, b: SessionSummary): number {
  return Number(b.pinned ?? false) - Number(a.pinned ?? false) || b.updatedAt - a.updatedAt;
}

/** The key of the sessions of all projects of a machine: those that are archived, or those that are not. */
export function allSessionsKey(deviceId: string, archived: boolean) {
  return [deviceId, "all_sessions", archived] as const;
}

/** Puts a session that was made or has changed into the lists. */
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

/** Takes a session out of the lists. */
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
 * The pages of a list, of archived sessions or of the others, after a session has changed. It is replaced or added where
 * it belongs, and taken out where it was archived or came back.
 */
export function withSession(before: Pages, session: SessionSummary, archived = false): Pages {
  if ((session.archived ?? false) !== archived) {
    return withoutSession(before, session.id);
  }
  const last = before.pages.at(-1);
  const known = isIn(before, session.id);
  const oldest = last?.sessions.at(-1);
  if (!known && last?.next && oldest && byPlace(session, oldest) > 0) {
    return before; // it comes with its page
  }
  if (!known && session.parentSessionId) {
    return before; // it is shown in the session that it belongs to
  }
  // One that is not here may be on a page that is not here either, unless all pages are.
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

/** What the machine told last of a session, since the channel was opened; null when it told nothing. */
export function useToldSession(deviceId: string, sessionId: string): SessionSummary | null {
  const { data } = useQuery<SessionSummary>({ queryKey: [deviceId, "session", sessionId], queryFn: skipToken });
  return data ?? null;
}

/** Whether there is any session on the machine. */
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
