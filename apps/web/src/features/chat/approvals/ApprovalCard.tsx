import { useRef, useState } from "react";
import type { Answer, Answered } from "../../../api/contract";
import type { Approval, Decision } from "../../../api/types";
import { Card } from "../../../components/Card";
import { cx } from "../../../components/cx";
import { t } from "../../../i18n/chat";
import { useSideBySide } from "../../diff/side-by-side";
import { useNames } from "../context/live-context";
import { ApprovalActions } from "./ApprovalActions";
import { ApprovalDetails, ApprovalHeading } from "./ApprovalQuestion";
import { decisionText, lateText } from "./approval-words";
import { DenyForm } from "./DenyForm";
import type { Decided } from "./decided";
import { type ByKey, meantBy } from "./meant-by";
import { Outcome } from "./Outcome";
import { type AnswerState, useAnswer } from "./use-answer";
import { useApprovalKeys } from "./use-approval-keys";
import { type Refusal, usePressGuard } from "./use-press-guard";
import { Watching } from "./Watching";

export interface ApprovalCardProps {
  approval: Approval;
  /** The position among the waiting approvals, from 1, and their number. */
  place?: number;
  count?: number;
  /** The agent that asks, if it is not this session's. */
  asker?: string | undefined;
  /** Whether this browser may answer and the host can be reached now. */
  canAnswer: boolean;
  /** Whether this browser lacks the grant to answer. */
  watches?: boolean;
  /** Whether this browser may store a rule. */
  canKeepRules: boolean;
  /** Whether keys answer this card, wherever the focus is. */
  active?: boolean;
  /** Whether the approval no longer waits. */
  over?: boolean;
  /** The recorded decision, if there is one. */
  decided?: Decided | null;
  /** The id of this browser. */
  me?: string | undefined;
  /** Changes whenever another card is answered. */
  epoch?: unknown;
  onAnswer: (approval: Approval, answer: Answer) => Promise<Answered>;
  /** Called when a person answers here, and again when the answer was delivered. */
  onPress?: () => void;
  onAnswered?: () => void;
}

/** A request for approval: the agent asks before it changes something, and nothing runs until it is allowed. */
export function ApprovalCard({ approval, place = 1, count = 1, asker, ...props }: ApprovalCardProps) {
  const { on: wide } = useSideBySide();
  const { canAnswer, watches = false, canKeepRules, active = false, over = false, epoch } = props;
  const { decided = null, me, onAnswer, onPress, onAnswered } = props;
  const [wording, setWording] = useState(false);
  const card = useRef<HTMLDivElement>(null);
  const actions = useRef<HTMLDivElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const deliver = (given: Answer) => onAnswer(approval, given);
  const { state, closed, ready, give, refused, refuse } = useAnswer<Answer, Answered>({
    canAnswer: canAnswer && !watches,
    over,
    deliver,
    onPress,
    onAnswered,
  });
  const guard = usePressGuard(card, actions, ready && !wording, epoch, refuse);
  const press = (decision: Decision) => give({ decision });
  const offered = (decision: Decision) => offers(approval, decision, canKeepRules);
  const meant = (key: ByKey) => {
    const decision = meantBy(key, approval);
    return decision && offered(decision) ? decision : undefined;
  };
  useApprovalKeys({ card, on: ready && !wording, active, guard, meant, press, refuse });
  const closeForm = () => {
    setWording(false);
    heading.current?.focus();
  };
  return (
    <Card
      ref={card}
      tone={closed ? "plain" : "warn"}
      data-testid={over ? "approval-answered" : "approval-card"}
      data-card={approval.id}
      data-asks={closed ? undefined : ""}
      data-active={active || undefined}
      role="group"
      aria-label={t("chat.approvals.approval", { title: approval.title })}
      className={cx("group/card rise my-3 overflow-clip", wide && approval.isDiff && "wide-card")}
    >
      <ApprovalHeading approval={approval} caption={captionOf(asker, place, count, closed)} heading={heading} />
      <ApprovalDetails approval={approval} />
      {closed ? null : watches ? (
        <Watching />
      ) : wording ? (
        <DenyForm
          busy={state.sent !== null}
          disabled={!ready}
          onDeny={(feedback) => give(feedback ? { decision: "deny", feedback } : { decision: "deny" })}
          onClose={closeForm}
        />
      ) : (
        <ApprovalActions
          area={actions}
          approval={approval}
          rules={offered("always") ? (approval.proposedRules ?? []) : []}
          stops={offered("stop")}
          disabled={!canAnswer}
          sent={state.sent?.decision}
          guard={guard}
          onPress={press}
          onWord={() => setWording(true)}
        />
      )}
      <Ended approval={approval} state={state} over={over} decided={decided} me={me} refused={refused} />
    </Card>
  );
}

function captionOf(asker: string | undefined, place: number, count: number, closed: boolean): string {
  if (closed) {
    return t("chat.approvals.approvalAnswered");
  }
  const needed = asker ? t("chat.approvals.approvalNeededBy", { asker }) : t("chat.approvals.approvalNeeded");
  return count > 1 ? `${needed} · ${t("chat.approvals.placeOfCount", { place, count })}` : needed;
}

/** A host that lists no options supports two of them. */
function offers({ options, proposedRules }: Approval, decision: Decision, canKeepRules: boolean): boolean {
  if (decision === "always" && !(canKeepRules && proposedRules?.length)) {
    return false;
  }
  return options ? options.includes(decision) : decision === "allow" || decision === "deny";
}

interface EndedProps {
  approval: Approval;
  state: AnswerState<Answer, Answered>;
  over: boolean;
  decided: Decided | null;
  me: string | undefined;
  refused: Refusal | null;
}

/** The outcome, for people who did not answer. */
function Ended({ approval, decided, me, ...props }: EndedProps) {
  const { sent, answered } = props.state;
  const nameOf = useNames();
  const final = answered ?? (props.over ? decided : null);
  const mine = answered?.won ?? (final !== null && final.decidedBy === me);
  const late = final && sent && !(mine && final.decision === sent.decision) ? lateText(final, nameOf) : null;
  const choice = approval.choices?.find(({ decision }) => decision === final?.decision);
  const text = final ? decisionText(final, mine, nameOf, choice?.name) : null;
  return <Outcome {...props} testId="approval-outcome" final={text} late={late} line="border-warn-line" />;
}
