// The contents of the inbox, from the sessions of all machines.
import type { Device, Host } from "../../api/contract";
import type { Project, SessionSummary } from "../../api/types";
import type { Filter, State } from "../route/inbox-filter";

/** A session with its machine and project. */
export interface Item {
  /** Identifies the session over all machines. */
  id: string;
  device: Device;
  host: Host;
  /** Whether the machine can be reached, so that its report of the session is current. */
  reachable: boolean;
  session: SessionSummary;
  project: Project | undefined;
  unread: boolean;
}

export interface Sections {
  needsYou: Item[];
  running: Item[];
  unread: Item[];
  recent: Item[];
}

export function needsYou({ waitingApproval, waitingAnswer }: SessionSummary): boolean {
  return Boolean(waitingApproval || waitingAnswer);
}

export function projectKey(deviceId: string, projectId: string): string {
  return `${deviceId}/${projectId}`;
}

/** Reports whether an item matches the filter. Archived sessions are not among the others. */
export function passes({ machine, project, state }: Filter, { device, session, unread }: Item): boolean {
  if ((machine && device.id !== machine) || (project && projectKey(device.id, session.projectId) !== project)) {
    return false;
  }
  if ((session.archived ?? false) !== (state === "archived")) {
    return false;
  }
  const of: Partial<Record<State, boolean>> = {
    "needs-you": needsYou(session),
    running: session.running && !needsYou(session),
    unread,
    pinned: session.pinned ?? false,
  };
  return state === undefined || (of[state] ?? true);
}

/** Puts each item into the most urgent matching section. `asking` has the items that are still shown as asking. */
export function sectionsOf(items: readonly Item[], asking: ReadonlySet<string>): Sections {
  const sections: Sections = { needsYou: [], running: [], unread: [], recent: [] };
  for (const item of items) {
    const { session, unread } = item;
    if (session.archived) {
      sections.recent.push(item);
    } else if (needsYou(session) || asking.has(item.id)) {
      sections.needsYou.push(item);
    } else if (session.running) {
      sections.running.push(item);
    } else {
      sections[unread ? "unread" : "recent"].push(item);
    }
  }
  // Oldest first: a later item does not move a button away from under a finger.
  sections.needsYou.sort((a, b) => a.session.updatedAt - b.session.updatedAt);
  for (const list of [sections.running, sections.unread, sections.recent]) {
    list.sort(byPlace);
  }
  return sections;
}

/** Orders items: pinned ones first, then the newest. */
function byPlace({ session: a }: Item, { session: b }: Item): number {
  return Number(b.pinned ?? false) - Number(a.pinned ?? false) || b.updatedAt - a.updatedAt;
}
