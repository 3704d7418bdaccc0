import { useState } from "react";
import type { SessionState } from "../../../api/contract";
import { CUSTOM_TURN, type SessionEntry, type TurnRecord } from "../../../api/types";
import { t } from "../../../i18n/chat";
import { visible } from "../../shared/visible";
import type { PendingApproval } from "../context/pending-approvals";

/**
 * Announces a session politely to screen readers: waiting approvals and questions, that the agent works, and how it
 * ended. A turn that ended before the session was opened is not announced.
 */
export function useAnnouncement(
  { live, entries, lastError }: SessionState,
  pending: readonly PendingApproval[],
): string {
  const running = live.turn !== null;
  const [seen, setSeen] = useState({ running, ended: false });
  if (seen.running !== running) {
    setSeen({ running, ended: !running });
  }
  const first = pending[0];
  if (first) {
    const { title } = first.approval;
    return t("chat.transcript.approvalsNeeded", { count: pending.length, title: visible(title) });
  }
  if (live.questions[0]) {
    return t("chat.transcript.theAgentAsks", { question: visible(live.questions[0].question) });
  }
  if (running) {
    return live.retry?.reason ?? t("chat.transcript.theAgentIsWorking");
  }
  return seen.ended ? endOf(entries, lastError) : "";
}

function endOf(entries: SessionState["entries"], lastError: string | null): string {
  if (lastError) {
    return t("chat.transcript.theTurnFailed", { error: lastError });
  }
  const stop = entries.findLast((entry) => stopReasonOf(entry) !== undefined);
  return stop && stopReasonOf(stop) === "aborted"
    ? t("chat.transcript.theTurnWasCanceled")
    : t("chat.transcript.theAgentHasFinished");
}

/** Returns why an answer, or a turn without one, ended; undefined for any other entry. */
function stopReasonOf(entry: SessionEntry): string | undefined {
  if (entry.type === "custom" && entry.customType === CUSTOM_TURN) {
    return (entry.data as Partial<TurnRecord> | undefined)?.stopReason;
  }
  return entry.type === "message" && entry.message.role === "assistant" ? entry.message.stopReason : undefined;
}
