import { type ReactNode, useId, useState } from "react";
import type { Answer, Answered } from "../../api/contract";
import type { Approval, Decision } from "../../api/types";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { ApprovalQuestion } from "./ApprovalQuestion";
import { DenyForm } from "./DenyForm";
import { useNames } from "./live-context";
import { releasedBy } from "./released";
import { type AnswerState, useAnswer } from "./use-answer";
import { visible } from "./visible";
import { Watching } from "./Watching";

export interface ApprovalCardProps {
  approval: Approval;
  /** Its place among those that wait, from 1, and how many they are. */
  place?: number;
  count?: number;
  /** The agent that asks, where it is not that of this session. */
  asker?: string | undefined;
  /** Whether this browser may answer, and the machine can hear it now. */
  canAnswer: boolean;
  /** Whether this browser has no right to answer at all. */
  watches?: boolean;
  /** Whether this browser may keep a rule. */
  canKeepRules: boolean;
  onAnswer: (approval: Approval, answer: Answer) => Promise<Answered>;
}

/** The agent asks before it changes something. Nothing runs until somebody allows it. */
export function ApprovalCard({ approval, place = 1, count = 1, asker, ...props }: ApprovalCardProps) {
  const { canAnswer, watches = false, canKeepRules, onAnswer } = props;
  const [wording, setWording] = useState(false);
  const { state, answer } = useAnswer<Answer, Answered>((given) => onAnswer(approval, given));
  const press = {
    sent: state.sent?.decision,
    disabled: !canAnswer || state.sent !== null,
    onPress: (decision: Decision) => answer({ decision }),
  };
  const rules = canKeepRules && offers(approval, "always") ? (approval.proposedRules ?? []) : [];
  return (
    <Card
      tone="warn"
      data-testid="approval-card"
      data-asks
      role="group"
      aria-label={`Approval: ${approval.title}`}
      className="rise my-3 overflow-hidden"
    >
      <ApprovalQuestion
        approval={approval}
        caption={`The agent ${asker ? `${asker} ` : ""}asks${count > 1 ? ` · ${place} of ${count}` : ""}`}
      />
      {watches ? (
        <Watching />
      ) : wording ? (
        <DenyForm
          busy={state.sent !== null}
          disabled={press.disabled}
          onDeny={(feedback) => answer(feedback ? { decision: "deny", feedback } : { decision: "deny" })}
          onClose={() => setWording(false)}
        />
      ) : (
        <div className="mt-3 grid gap-2 px-4 pb-3">
          <div className="grid grid-cols-2 gap-2 sm:flex sm:justify-end">
            <Press decision="deny" {...press}>
              Deny
            </Press>
            {/* What can do the most harm is not what the hand goes to by itself. */}
            <Press decision="allow" tone={approval.risk?.level === "high" ? "danger" : "primary"} {...press}>
              Allow once
            </Press>
          </div>
          {rules.length > 0 ? <Always rules={rules} press={press} /> : null}
          <div className="grid grid-cols-2 gap-2 sm:flex sm:justify-end">
            <Button data-testid="approval-word" tone="quiet" disabled={press.disabled} onClick={() => setWording(true)}>
              Deny, say why
            </Button>
            {offers(approval, "stop") ? (
              <Press decision="stop" tone="quiet" {...press}>
                Stop the turn
              </Press>
            ) : null}
          </div>
        </div>
      )}
      <Outcome state={state} />
    </Card>
  );
}

/** A host that lists no answers knows two of them. */
function offers({ options }: Approval, decision: Decision): boolean {
  return options ? options.includes(decision) : decision === "allow" || decision === "deny";
}

interface PressProps {
  sent: Decision | undefined;
  disabled: boolean;
  onPress: (decision: Decision) => void;
}

interface PressButtonProps extends PressProps {
  decision: Decision;
  tone?: "primary" | "quiet" | "danger";
  className?: string;
  describedBy?: string;
  children: ReactNode;
}

function Press({ decision, tone, sent, disabled, onPress, className, describedBy, children }: PressButtonProps) {
  return (
    <Button
      data-testid={`approval-${decision}`}
      aria-describedby={describedBy}
      busy={sent === decision}
      disabled={disabled}
      onClick={() => onPress(decision)}
      {...(tone ? { tone } : {})}
      {...(className ? { className } : {})}
    >
      {children}
    </Button>
  );
}

/** The rules stand there word for word: they hold long after this call. */
function Always({ rules, press }: { rules: string[]; press: PressProps }) {
  const id = useId();
  return (
    <div className="flex flex-col gap-2 rounded-md border border-warn-line p-2.5 sm:flex-row sm:items-center sm:justify-between">
      <div id={id} className="min-w-0 text-muted text-xs">
        <p>From now on, in this project, without asking:</p>
        <ul data-testid="approval-rules">
          {rules.map((rule) => (
            <li key={rule} className="break-all font-mono text-[0.8125rem] text-ink">
              {visible(rule)}
            </li>
          ))}
        </ul>
      </div>
      <Press decision="always" describedBy={id} {...press}>
        Always allow
      </Press>
    </div>
  );
}

const words: Record<string, string> = {
  allow: "Allowed once.",
  always: "Allowed, and the rule is kept.",
  deny: "Denied.",
  stop: "Denied, and the turn is stopped.",
  cancelled: "The turn was cancelled.",
};

function faster({ decidedBy, released }: Answered, nameOf: (id: string) => string): string {
  if (released) return `the call had gone on ${releasedBy(released)}, after a change of ${nameOf(decidedBy)}.`;
  return `${nameOf(decidedBy)} had answered already, and that counts.`;
}

/** From sent to applied; the card stays until the machine takes the question back. */
function Outcome({ state: { sent, answered, error } }: { state: AnswerState<Answer, Answered> }) {
  const nameOf = useNames();
  const told = answered ? (words[answered.decision] ?? "Answered.") : sent ? "Sending your answer." : null;
  const late = answered && !answered.won ? `Too late: ${faster(answered, nameOf)} ` : "";
  return (
    <>
      <p
        role="status"
        data-testid="approval-outcome"
        className={told && !late ? "px-4 pb-3 text-muted text-sm" : "sr-only"}
      >
        {late ? null : told}
      </p>
      {late || error ? (
        <p role="alert" className="border-warn-line border-t px-4 py-2 text-sm">
          {late ? `${late}${told}` : error}
        </p>
      ) : null}
    </>
  );
}
