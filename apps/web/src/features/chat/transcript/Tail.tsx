import type { ComponentType } from "react";
import type { SessionState, SessionView } from "../../../api/contract";
import { t } from "../../../i18n/chat";
import { MissingPart } from "../../shared/MissingPart";
import type { CardsProps } from "../approvals/Cards";
import type { PendingApproval } from "../context/pending-approvals";
import { ErrorCard } from "../messages/AssistantRow";
import { Working } from "../messages/Working";
import { OutgoingRows } from "../queue/OutgoingRows";
import { Retry } from "./Retry";
import type { Row } from "./rows";

export interface TailProps {
  state: SessionState;
  view: SessionView;
  pending: readonly PendingApproval[];
  /** The id of this browser. */
  me: string | undefined;
  /** The rows above. */
  rows: readonly Row[];
  /** Whether this browser may answer approvals. */
  canAnswer: boolean;
  /** Whether this browser may answer questions. */
  canReply: boolean;
  canKeepRules: boolean;
  /** The component for approvals and questions; null while it is loading, "missing" if that failed. */
  cards: ComponentType<CardsProps> | "missing" | null;
  readOnly: boolean;
}

/** Everything after the messages: the activity of the agent, approvals and questions, and undelivered prompts. */
export function Tail({
  state,
  view,
  pending,
  me,
  rows,
  canAnswer,
  canReply,
  canKeepRules,
  cards: Cards,
  readOnly,
}: TailProps) {
  const { live, outgoing } = state;
  const last = rows.at(-1);
  const running = live.turn !== null;
  return (
    <>
      <Working live={live} />
      {Cards === "missing" ? (
        pending.length + live.questions.length > 0 ? (
          <MissingPart />
        ) : null
      ) : Cards ? (
        <Cards {...{ state, view, pending, me, canAnswer, canReply, canKeepRules }} />
      ) : null}
      {live.unattended ? (
        <p data-testid="unattended" className="my-3 text-muted text-sm">
          {t("chat.transcript.noOneWhoCanAnswer")}
        </p>
      ) : null}
      {state.lastError && !running && !showsError(last) ? <ErrorCard text={state.lastError} /> : null}
      {!readOnly && !running && outgoing.length === 0 && (state.lastError || wasInterrupted(last)) ? (
        <Retry rows={rows} onContinue={() => void view.send(t("chat.transcript.continueText"))} />
      ) : null}
      <OutgoingRows prompts={outgoing} queue={live.queue} running={running} view={view} />
    </>
  );
}

/** Reports whether the last turn failed or was canceled. */
function wasInterrupted(row: Row | undefined): boolean {
  if (row?.kind === "note") {
    return row.canceled === true; // canceled before there was any answer
  }
  return row?.kind === "error" || (row?.kind === "assistant" && ["error", "aborted"].includes(row.message.stopReason));
}

/** Reports whether the row already shows that the turn failed. */
function showsError(row: Row | undefined): boolean {
  if (row?.kind === "assistant") {
    return row.message.stopReason === "error" || row.message.stopReason === "aborted";
  }
  return row?.kind === "error" || row?.kind === "note";
}
