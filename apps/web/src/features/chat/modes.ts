import type { Host } from "../../api/contract";
import type { HostInfo, Mode, SessionSummary } from "../../api/types";

/** What shows a session's mode and changes it. */
export interface SessionModeProps {
  host: Host;
  /** null until the machine has told it. */
  info: HostInfo | null;
  session: SessionSummary;
  /** The machine can hear it now. */
  live: boolean;
}

/** The modes, each allowing what those before it allow. */
export const modes: readonly { mode: Mode; text: string }[] = [
  { mode: "plan", text: "It reads, and changes nothing. What would change something is denied." },
  { mode: "ask", text: "It reads. It asks before it changes anything, unless a rule allows it." },
  { mode: "accept-edits", text: "It changes files of the project. The rest asks." },
  { mode: "auto", text: "It does what is not of high risk. The rest asks." },
  { mode: "bypass", text: "It does almost everything without asking." },
];

/** The place of a mode in the order; one that is not known counts as "ask". */
export function rankOf(mode: string): number {
  const place = modes.findIndex((each) => each.mode === mode);
  return place < 0 ? 1 : place;
}

/** The highest mode that this browser may set; null when it may set none. */
export function highestMode({ grants, maxMode }: HostInfo): Mode | null {
  return grants.includes("manage") ? (maxMode ?? "ask") : null;
}
