// What people do to a session, as requests to its host.
import type { Answer, Answered, Host, QuestionReplied, QuestionReply } from "./contract";
import type { Approval, Live, Question, QueueItem } from "./types";

type Asker = Pick<Host, "request">;

/** Cancels the shown turn, and no later one. */
export async function cancelTurn(host: Asker, sessionId: string, { turn }: Live): Promise<void> {
  if (turn) {
    await host.request("cancel_turn", { sessionId, turnId: turn.turnId });
  }
}

/** Edits the shown queue; the host rejects the edit if the queue has changed since. */
export async function editQueue(host: Asker, sessionId: string, { queue }: Live, items: QueueItem[]): Promise<void> {
  const expected = queue.map((prompt) => prompt.clientKey);
  await host.request("edit_queue", { sessionId, expected, items });
}

/** `me` is the id of this browser, or null if unknown. */
export async function answerApproval(
  host: Asker,
  me: string | null,
  sessionId: string,
  approval: Approval,
  answer: Answer,
): Promise<Answered> {
  const fields = {
    sessionId,
    approvalId: approval.id,
    ...answer,
    // The answer applies to the shown approval only.
    ...(approval.shown ? { shown: approval.shown } : {}),
  };
  const answered: Answered = await host.request("answer_approval", fields, approval);
  return ours(answered, answered.decidedBy === me && answered.decision === answer.decision);
}

/** `me` is the id of this browser, or null if unknown. */
export async function answerQuestion(
  host: Asker,
  me: string | null,
  sessionId: string,
  question: Question,
  reply: QuestionReply,
): Promise<QuestionReplied> {
  const replied: QuestionReplied = await host.request("answer_question", {
    sessionId,
    questionId: question.id,
    ...reply,
  });
  const same = "answer" in reply ? replied.answer === reply.answer : replied.outcome === "skipped";
  return ours(replied, replied.answeredBy === me && same);
}

/**
 * The reply to an answer may be lost. The repeated answer then comes second to the first one of the same person, which
 * still counts.
 */
function ours<T extends { won: boolean }>(answered: T, same: boolean): T {
  return same ? { ...answered, won: true } : answered;
}
