// The addresses of the pages. Old links must keep working.
import { type Filter, states } from "./inbox-filter";

/** The pattern of each page's path, with the names of its parameters. */
export const paths = {
  inbox: "/",
  pair: "/pair",
  connection: "/connection",
  share: "/share",
  machine: "/d/:deviceId",
  newSession: "/d/:deviceId/new",
  session: "/d/:deviceId/s/:sessionId",
  terminals: "/d/:deviceId/terminal",
} as const;

type Search = Readonly<Record<string, string | boolean | undefined>>;

function withSearch(path: string, search: Search): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== false) {
      params.set(name, String(value));
    }
  }
  return params.size > 0 ? `${path}?${params}` : path;
}

const machine = (deviceId: string) => `/d/${encodeURIComponent(deviceId)}`;

/** Returns the address of a page. */
export const address = {
  inbox: (filter: Filter = {}) => withSearch(paths.inbox, { ...filter }),
  /**
   * `archived` lists the archived sessions instead of the others, `project` names the one whose sessions are all
   * listed.
   */
  machine: (deviceId: string, search: { archived?: boolean; project?: string } = {}) =>
    withSearch(machine(deviceId), search),
  newSession: (deviceId: string, search: { project: string; agent?: string | undefined }) =>
    withSearch(`${machine(deviceId)}/new`, search),
  /** `entry` is the id of the entry to show. */
  session: (deviceId: string, sessionId: string, search: { entry?: string | undefined } = {}) =>
    withSearch(`${machine(deviceId)}/s/${encodeURIComponent(sessionId)}`, search),
  /** `project` is the one whose folder a shell starts in, `session` the one whose worktree. */
  terminals: (deviceId: string, search: { project?: string; session?: string } = {}) =>
    withSearch(`${machine(deviceId)}/terminal`, search),
};

/** Returns an id in an address; undefined if there is none. Older links have ids of digits in quotes. */
export function idIn(params: URLSearchParams, name: string): string | undefined {
  return params.get(name)?.replace(/^"(.*)"$/, "$1") || undefined;
}

/** Returns the inbox's filter in an address. */
export function filterIn(params: URLSearchParams): Filter {
  const machine = idIn(params, "machine");
  const project = idIn(params, "project");
  const state = states.find((each) => each === params.get("state"));
  return { ...(machine ? { machine } : {}), ...(project ? { project } : {}), ...(state ? { state } : {}) };
}
