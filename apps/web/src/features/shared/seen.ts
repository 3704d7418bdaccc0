// What the person at this browser has seen of each session. It is stored in this browser, see decision 0022.
import { Store } from "../../api/store";
import type { SessionSummary } from "../../api/types";

type Seen = Pick<SessionSummary, "id" | "updatedAt">;

interface SeenOn {
  /** Sessions unchanged since this time of the host's clock count as seen. */
  since: number;
  /** The time of the last seen message, by session. */
  sessions: Record<string, number>;
}

type Machines = Readonly<Record<string, SeenOn>>;

const storageName = "scorel.seen";

/** How many sessions of a machine are stored one by one; those seen longest ago are dropped. */
const most = 400;

export class SeenSessions {
  readonly state: Store<Machines>;

  constructor() {
    this.state = new Store<Machines>(read() ?? {});
  }

  /** Applies changes made by other tabs. */
  listen(): () => void {
    const take = (event: StorageEvent) => {
      if (event.key === storageName) {
        this.state.set(read() ?? {});
      }
    };
    window.addEventListener("storage", take);
    return () => window.removeEventListener("storage", take);
  }

  /** Begins with a machine that is new to this browser: its present sessions count as seen. */
  begin(deviceId: string, sessions: readonly Seen[]): void {
    if (!this.state.get()[deviceId]) {
      const since = Math.max(0, ...sessions.map(({ updatedAt }) => updatedAt));
      this.#change((before) => (before[deviceId] ? before : { ...before, [deviceId]: { since, sessions: {} } }));
    }
  }

  markRead(deviceId: string, sessions: readonly Seen[]): void {
    const unread = sessions.filter((session) => isUnread(this.state.get(), deviceId, session));
    if (unread.length > 0) {
      this.#mark(deviceId, unread, (updatedAt) => updatedAt);
    }
  }

  markUnread(deviceId: string, session: Seen): void {
    this.#mark(deviceId, [session], (updatedAt) => updatedAt - 1);
  }

  /** Drops a machine that this browser no longer has access to. */
  forget(deviceId: string): void {
    if (this.state.get()[deviceId]) {
      this.#change(({ [deviceId]: _, ...others }) => others);
    }
  }

  #mark(deviceId: string, marked: readonly Seen[], time: (updatedAt: number) => number): void {
    this.#change((before) => {
      const { since = 0, sessions = {} } = before[deviceId] ?? {};
      const times = marked.map(({ id, updatedAt }) => [id, time(updatedAt)] as const);
      return { ...before, [deviceId]: bounded({ since, sessions: { ...sessions, ...Object.fromEntries(times) } }) };
    });
  }

  // Starts from the stored state, which another tab may just have changed.
  #change(change: (before: Machines) => Machines): void {
    const next = change(read() ?? this.state.get());
    try {
      localStorage.setItem(storageName, JSON.stringify(next));
    } catch {} // storage is full or unavailable: the state lives in this page only
    this.state.set(next);
  }
}

/** Reports whether a session has content that was not seen here. */
export function isUnread(machines: Machines, deviceId: string, { id, updatedAt }: Seen): boolean {
  const machine = machines[deviceId];
  return machine !== undefined && updatedAt > (machine.sessions[id] ?? machine.since);
}

function bounded({ since, sessions }: SeenOn): SeenOn {
  const newest = Object.entries(sessions).sort(([, a], [, b]) => b - a);
  const forgotten = newest.slice(most);
  return {
    since: Math.max(since, ...forgotten.map(([, time]) => time)),
    sessions: forgotten.length > 0 ? Object.fromEntries(newest.slice(0, most)) : sessions,
  };
}

function read(): Machines | null {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageName) ?? "{}");
    return typeof stored === "object" && stored !== null ? (stored as Machines) : {};
  } catch {
    return null;
  }
}

export const seen = new SeenSessions();
