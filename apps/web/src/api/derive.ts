// Values derived from a session's log. They are stored nowhere else and therefore are the same after any resync.
import { t } from "../i18n/api";
import type { OutgoingPrompt } from "./contract";
import { CUSTOM_LEAF, CUSTOM_TURN, type SessionEntry, type TurnRecord } from "./types";

/** Returns the clientKey of a person's message, if it has one. */
export function clientKeyOf(entry: SessionEntry): string | undefined {
  return entry.type === "message" && entry.message.role === "user" ? entry.clientKey : undefined;
}

/**
 * Returns the error that ended the last turn: from the turn's record, or from the last answer where another program
 * left no record. A later message of a person or a later answer clears it.
 */
export function lastErrorOf(entries: readonly SessionEntry[]): string | null {
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i] as SessionEntry;
    if (entry.type === "branch_summary" || (entry.type === "custom" && entry.customType === CUSTOM_LEAF)) {
      return null; // the session has moved to another host
    }
    if (entry.type === "custom" && entry.customType === CUSTOM_TURN) {
      const record = entry.data as Partial<TurnRecord> | undefined;
      return record?.stopReason === "error" ? record.error || t("api.derive.noReason") : null;
    }
    if (entry.type === "message") {
      const { message } = entry;
      const failed = message.role === "assistant" && message.stopReason === "error";
      return failed ? message.errorMessage || t("api.derive.noReason") : null;
    }
  }
  return null;
}

/** Returns the same list while nothing in it changes, so that a stream of deltas does not render it repeatedly. */
export function keepSame(before: OutgoingPrompt[], after: OutgoingPrompt[]): OutgoingPrompt[] {
  const same =
    before.length === after.length &&
    before.every((a, i) => {
      const b = after[i] as OutgoingPrompt;
      return (
        a.clientKey === b.clientKey &&
        a.state === b.state &&
        a.mine === b.mine &&
        a.steer === b.steer &&
        a.text === b.text &&
        a.progress === b.progress &&
        a.error === b.error
      );
    });
  return same ? before : after;
}
