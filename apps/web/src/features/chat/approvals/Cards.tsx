import { useMemo, useState } from "react";
import type { SessionState, SessionView } from "../../../api/contract";
import type { Question } from "../../../api/types";
import type { PendingApproval } from "../context/pending-approvals";
import { ApprovalCard } from "./ApprovalCard";
import { replyIn } from "./decided";
import { PointerContext } from "./pointer-track";
import { QuestionCard } from "./QuestionCard";
import { useCardFocus } from "./use-card-focus";
import { useDecisions } from "./use-decisions";
import { useLingering } from "./use-lingering";
import { usePointerTrack } from "./use-pointer-track";

export interface CardsProps {
  state: SessionState;
  view: SessionView;
  pending: readonly PendingApproval[];
  /** The id of this browser. */
  me: string | undefined;
  /** Whether this browser may answer approvals. */
  canAnswer: boolean;
  /** Whether this browser may answer questions. */
  canReply: boolean;
  canKeepRules: boolean;
  /** Set when the page also has cards of other sessions: keys then go to the focused card only. */
  among?: { epoch: unknown; onAnswered: () => void };
}

type Waiting = { id: string } & ({ pending: PendingApproval } | { question: Question });

/** The waiting approvals and questions, and for a moment the ones just answered. */
export function Cards({ state, view, pending, me, canAnswer, canReply, canKeepRules, among }: CardsProps) {
  const { questions } = state.live;
  const waiting = useMemo<Waiting[]>(
    () => [
      ...pending.map((each) => ({ id: each.approval.id, pending: each })),
      ...questions.map((question) => ({ id: question.id, question })),
    ],
    [pending, questions],
  );
  const shown = useLingering(waiting);
  const decisionOf = useDecisions(state);
  const pointer = usePointerTrack();
  const [arrived, setArrived] = useState<readonly string[]>([]);
  const done = shown.filter(({ item, over }) => over || arrived.includes(item.id)).map(({ item }) => item.id);
  const open = shown.filter(({ item }) => !done.includes(item.id)).map(({ item }) => item.id);
  const { list, focused, pressed } = useCardFocus(open, done);
  const active =
    focused && open.includes(focused) ? focused : open.find((id) => pending.some(({ approval }) => approval.id === id));
  const live = state.status === "live";
  return (
    <PointerContext value={pointer}>
      <div ref={list}>
        {shown.map(({ item, over }) => {
          const { id } = item;
          const common = {
            over,
            me,
            epoch: `${done} ${among?.epoch}`,
            onPress: () => pressed(id),
            onAnswered: () => {
              setArrived((ids) => [...ids, id]);
              among?.onAnswered();
            },
          };
          return "pending" in item ? (
            <ApprovalCard
              key={id}
              approval={item.pending.approval}
              place={pending.findIndex(({ approval }) => approval.id === id) + 1}
              count={pending.length}
              asker={item.pending.asker}
              canAnswer={canAnswer}
              watches={!canAnswer && live}
              canKeepRules={canKeepRules}
              active={id === active && (among === undefined || id === focused)}
              decided={over ? decisionOf(id) : null}
              onAnswer={(asked, answer) => view.answer(asked, answer, item.pending.sessionId)}
              {...common}
            />
          ) : (
            <QuestionCard
              key={id}
              question={item.question}
              canAnswer={canReply}
              watches={!canReply && live}
              replied={over ? replyIn(state.entries, id) : null}
              onReply={(asked, reply) => view.answerQuestion(asked, reply)}
              {...common}
            />
          );
        })}
      </div>
    </PointerContext>
  );
}
