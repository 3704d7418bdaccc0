import type { Host } from "../../api/contract";
import type { HostInfo, Mode, SessionSummary } from "../../api/types";
import { t } from "../../i18n/chat";

/** Shows and changes a session's mode. */
export interface SessionModeProps {
  host: Host;
  /** null until the host has reported it. */
  info: HostInfo | null;
  session: SessionSummary;
  /** Whether the host can be reached now. */
  live: boolean;
}

/** The modes in order: each allows everything that those before it allow. */
export const modes: readonly { mode: Mode; name: string; text: string }[] = [
  {
    mode: "plan",
    get name() {
      return t("chat.mode.planOnly");
    },
    get text() {
      return t("chat.mode.readsOnlyChangesAreDenied");
    },
  },
  {
    mode: "ask",
    get name() {
      return t("chat.mode.askFirst");
    },
    get text() {
      return t("chat.mode.readsFreelyAsksBeforeAny");
    },
  },
  {
    mode: "accept-edits",
    get name() {
      return t("chat.mode.autoAcceptEdits");
    },
    get text() {
      return t("chat.mode.editsProjectFilesFreelyAsks");
    },
  },
  {
    mode: "auto",
    get name() {
      return t("chat.mode.auto");
    },
    get text() {
      return t("chat.mode.runsAnythingNotHighRisk");
    },
  },
  {
    mode: "bypass",
    get name() {
      return t("chat.mode.bypassPermissions");
    },
    get text() {
      return t("chat.mode.runsAlmostEverythingWithoutAsking");
    },
  },
];

/** Returns the display name of a mode; an unknown mode is shown as it is. */
export function nameOfMode(mode: string): string {
  return modes.find((each) => each.mode === mode)?.name ?? mode;
}

/** Returns the position of a mode in the order; an unknown one counts as "ask". */
export function rankOf(mode: string): number {
  const place = modes.findIndex((each) => each.mode === mode);
  return place < 0 ? 1 : place;
}

/** Returns the highest mode that this browser may set; null if it may set none. */
export function highestMode({ grants, maxMode }: HostInfo): Mode | null {
  return grants.includes("manage") ? (maxMode ?? "ask") : null;
}
