// What people do to a session, as requests to its host.
import type { Answer, Answered, Host, QuestionReplied, QuestionReply } from "./contract";
import type { Approval, Live, Question, QueueItem } from "./types";

type Asker = Pick<Host, "request">;

/** Cancels the turn that is shown, and no later one. */
export async function cancelTurn(host: Asker, sessionId: string, { turn }: Live): Promise<void> {
  if (turn) {
    await host.request("cancel_turn", { sessionId, turnId: turn.turnId });
  }
}

/** Changes the queue that is shown; the host refuses when it is another one by now. */
export async function editQueue(host: Asker, sessionId: string, { queue }: Live, items: QueueItem[]): Promise<void> {
  const expected = queue.map((prompt) => prompt.clientKey);
  await host.request("edit_queue", { sessionId, expected, items });
}

export function answerApproval(host: Asker, sessionId: string, approval: Approval, answer: Answer): Promise<Answered> {
  return host.request("answer_approval", {
    sessionId,
    approvalId: approval.id,
    ...answer,
    // The answer is for what was on the screen, and for nothing else.
    ...(approval.shown ? { shown: approval.shown } : {}),
  });
}

export function answerQuestion(
  host: Asker,
  sessionId: string,
  question: Question,
  reply: QuestionReply,
): Promise<QuestionReplied> {
  return host.request("answer_question", { sessionId, questionId: question.id, ...reply });
}
