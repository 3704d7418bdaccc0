// The limits of a client, as chosen before they are saved.
import type { Client, ClientLimits } from "../../api/types";

export type Ending = "keep" | "never" | "8h" | "1d" | "7d" | "date";

export interface Choice {
  /** Whether all projects are chosen, or those of the list. */
  all: boolean;
  projects: readonly string[];
  ending: Ending;
  /** In the format of a date field, such as 2026-11-30. */
  date: string;
}

const hour = 60 * 60_000;
const lasting: Partial<Record<Ending, number>> = { "8h": 8 * hour, "1d": 24 * hour, "7d": 7 * 24 * hour };

/** Returns the current limits of a client. Projects that are no longer on the host cannot be chosen again. */
export function choiceOf({ projects = [], expiresAt }: Client, known: readonly string[]): Choice {
  return {
    all: projects.length === 0,
    projects: projects.filter((id) => known.includes(id)),
    ending: expiresAt ? "keep" : "never",
    date: "",
  };
}

/** Returns the limits to save; null while the choice is incomplete. A date includes its whole day. */
export function limitsOf({ all, projects, ending, date }: Choice, client: Client, now: number): ClientLimits | null {
  const expiresAt = endOf(ending, date, client.expiresAt ?? 0, now);
  if (expiresAt === null || (!all && projects.length === 0)) {
    return null;
  }
  return { ...(all ? {} : { projects: [...projects] }), ...(expiresAt ? { expiresAt } : {}) };
}

function endOf(ending: Ending, date: string, kept: number, now: number): number | null {
  switch (ending) {
    case "never":
      return 0;
    case "keep":
      return kept > now ? kept : null;
    case "date": {
      const at = new Date(`${date}T23:59:59`).getTime();
      return at > now ? at : null;
    }
    default:
      return now + (lasting[ending] ?? 0);
  }
}

/** Returns the local day of a time, in the format of a date field. */
export function dayOf(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}
