// The answers of a host that list its contents, updated by its events, to be shown when it cannot be reached.
import { KEPT } from "../../api/copies";
import type { WireEvent } from "../../api/messages";
import type { Requests, SessionSummary } from "../../api/types";

type Sessions = Requests["list_sessions"]["response"];

/** Returns the id of an answer's copy; null for an answer that is not stored. */
export function listId(name: string, fields: object): string | null {
  const { watching: _, ...asked } = fields as Record<string, unknown>;
  if (!KEPT.includes(name) || asked.after) {
    return null;
  }
  const sorted = Object.entries(asked).sort(([a], [b]) => (a < b ? -1 : 1));
  return `list ${name} ${JSON.stringify(Object.fromEntries(sorted))}`;
}

/** Returns a list's answer after an event of the host. */
export function listAfter(id: string, answer: unknown, event: WireEvent): unknown {
  const [, name = "", ...rest] = id.split(" ");
  if (name === "list_projects" && event.type === "projects_changed") {
    return { projects: event.projects };
  }
  if (name !== "list_sessions") {
    return answer;
  }
  const list = answer as Sessions;
  if (event.type === "session_deleted" || event.type === "session_moved") {
    return without(list, event.id as string);
  }
  if (event.type === "session_updated") {
    return withUpdate(list, JSON.parse(rest.join(" ")), event.session as SessionSummary);
  }
  return answer;
}

type Asked = Requests["list_sessions"]["request"];

function withUpdate(list: Sessions, { projectId, archived, limit }: Asked, session: SessionSummary): Sessions {
  const others = without(list, session.id);
  const known = others !== list;
  const belongs =
    (!projectId || projectId === session.projectId) &&
    (archived === "too" || (archived === "only") === (session.archived ?? false)) &&
    (known || !session.parentSessionId);
  if (!belongs) {
    return others;
  }
  const sessions = [session, ...others.sessions];
  return {
    ...others,
    sessions: limit ? sessions.slice(0, limit) : sessions,
    ...(others.total === undefined ? {} : { total: others.total + 1 }),
  };
}

function without(list: Sessions, sessionId: string): Sessions {
  const sessions = list.sessions.filter(({ id }) => id !== sessionId);
  if (sessions.length === list.sessions.length) {
    return list;
  }
  return { ...list, sessions, ...(list.total ? { total: list.total - 1 } : {}) };
}
