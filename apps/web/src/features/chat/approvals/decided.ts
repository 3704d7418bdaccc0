// The answers to approvals and questions that have ended, read from the log.
import type { Answered, QuestionReplied } from "../../../api/contract";
import {
  type ApprovalRecord,
  CUSTOM_APPROVAL,
  CUSTOM_QUESTION,
  type Decision,
  type QuestionOutcome,
  type QuestionRecord,
  type SessionEntry,
} from "../../../api/types";
import { isRecord } from "../calls/tool-facts";

/** How many entries back an answer is searched for: it is as recent as the card that it ends. */
const reach = 300;

/** A decision in force, whoever made it. */
export type Decided = Omit<Answered, "won">;

/** The answer to a question that counts. */
export type Replied = Omit<QuestionReplied, "won">;

/** Returns the decision about an approval; null if the log has none. */
export function decisionIn(entries: readonly SessionEntry[], approvalId: string): Decided | null {
  const record = lastRecord<ApprovalRecord>(entries, CUSTOM_APPROVAL, (data) => data.approvalId === approvalId);
  if (!record?.decision) {
    return null;
  }
  const { decision, decidedBy = "", released } = record;
  return { decision: decision as Decision, decidedBy, ...(released ? { released } : {}) };
}

/** Returns the answer to a question; null if the log has none. */
export function replyIn(entries: readonly SessionEntry[], questionId: string): Replied | null {
  const record = lastRecord<QuestionRecord>(entries, CUSTOM_QUESTION, (data) => data.questionId === questionId);
  if (!record?.outcome) {
    return null;
  }
  const { outcome, answeredBy = "", answer } = record;
  return { outcome: outcome as QuestionOutcome, answeredBy, ...(answer === undefined ? {} : { answer }) };
}

function lastRecord<T>(
  entries: readonly SessionEntry[],
  customType: string,
  fits: (data: Partial<T>) => boolean,
): Partial<T> | null {
  const found = entries
    .slice(-reach)
    .findLast(
      (entry) =>
        entry.type === "custom" &&
        entry.customType === customType &&
        isRecord(entry.data) &&
        fits(entry.data as Partial<T>),
    );
  return found?.type === "custom" ? (found.data as Partial<T>) : null;
}
