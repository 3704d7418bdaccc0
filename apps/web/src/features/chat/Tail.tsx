import type { SessionState, SessionView } from "../../api/contract";
import { ApprovalCard } from "./ApprovalCard";
import { ErrorCard } from "./AssistantRow";
import { LivePart } from "./LivePart";
import type { Leave } from "./leaves";
import { OutgoingRows } from "./OutgoingRows";
import { QuestionCard } from "./QuestionCard";
import type { Row } from "./rows";

export interface TailProps {
  state: SessionState;
  view: SessionView;
  leaves: readonly Leave[];
  model: { id: string; demo: boolean } | null;
  /** The row above. */
  last: Row | undefined;
  /** Whether this browser may answer approvals. */
  canAnswer: boolean;
  /** Whether this browser may answer questions. */
  canReply: boolean;
  canKeepRules: boolean;
}

/** What follows the log: the answer that is being written, what waits for people, and prompts on their way. */
export function Tail({ state, view, leaves, model, last, canAnswer, canReply, canKeepRules }: TailProps) {
  const { live, outgoing } = state;
  const { questions } = live;
  const running = live.turn !== null;
  return (
    <>
      {running ? (
        <LivePart live={live} model={model?.id} demo={model?.demo ?? false} first={last?.kind !== "assistant"} />
      ) : null}
      {leaves.map(({ approval, asker, sessionId }, i) => (
        <ApprovalCard
          key={approval.id}
          approval={approval}
          place={i + 1}
          count={leaves.length}
          asker={asker}
          canAnswer={canAnswer}
          watches={!canAnswer && state.status === "live"}
          canKeepRules={canKeepRules}
          onAnswer={(asked, answer) => view.answer(asked, answer, sessionId)}
        />
      ))}
      {questions.map((question) => (
        <QuestionCard
          key={question.id}
          question={question}
          canAnswer={canReply}
          watches={!canReply && state.status === "live"}
          onReply={(asked, reply) => view.answerQuestion(asked, reply)}
        />
      ))}
      {live.unattended ? (
        <p data-testid="unattended" className="my-3 text-muted text-sm">
          Nobody who may answer is watching. This waits until somebody with the right opens the session.
        </p>
      ) : null}
      {state.lastError && !running && !tellsError(last) ? <ErrorCard text={state.lastError} /> : null}
      <OutgoingRows prompts={outgoing} queue={live.queue} running={running} view={view} />
    </>
  );
}

/** Whether the row says already that the turn did not end well. */
function tellsError(row: Row | undefined): boolean {
  if (row?.kind === "assistant") return row.message.stopReason === "error" || row.message.stopReason === "aborted";
  return row?.kind === "error" || row?.kind === "note";
}
