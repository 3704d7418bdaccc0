import { type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import type { QuestionReplied, QuestionReply } from "../../../api/contract";
import { MAX_ANSWER, type Question } from "../../../api/types";
import { Button } from "../../../components/Button";
import { Card } from "../../../components/Card";
import { QuestionIcon } from "../../../components/icons";
import { Spinner } from "../../../components/Spinner";
import { TextField } from "../../../components/TextField";
import { t } from "../../../i18n/chat";
import { locale } from "../../../i18n/i18n";
import { capital } from "../../shared/errors";
import { domainOf, linkOf } from "../../shared/link";
import { visible } from "../../shared/visible";
import { useNames } from "../context/live-context";
import { answerText } from "./Answered";
import type { Replied } from "./decided";
import { Outcome } from "./Outcome";
import { type AnswerState, useAnswer } from "./use-answer";
import { type Guard, type Refusal, usePressGuard } from "./use-press-guard";
import { Watching } from "./Watching";

export interface QuestionCardProps {
  question: Question;
  /** Whether this browser may answer and the host can be reached now. */
  canAnswer: boolean;
  /** Whether this browser lacks the grant to answer. */
  watches?: boolean;
  /** Whether the question no longer waits. */
  over?: boolean;
  /** The answer recorded in the log, if there is one. */
  replied?: Replied | null;
  /** The id of this browser. */
  me?: string | undefined;
  /** Changes whenever another card is answered. */
  epoch?: unknown;
  onReply: (question: Question, reply: QuestionReply) => Promise<QuestionReplied>;
  /** Called when a person answers here, and again when the answer was delivered. */
  onPress?: () => void;
  onAnswered?: () => void;
}

/** A question of the agent, which waits for an answer until the timeout. */
export function QuestionCard({ question, canAnswer, watches = false, over = false, ...props }: QuestionCardProps) {
  const { replied = null, me, epoch, onReply, onPress, onAnswered } = props;
  const card = useRef<HTMLDivElement>(null);
  const deliver = (reply: QuestionReply) => onReply(question, reply);
  const { state, closed, ready, give, refused, refuse } = useAnswer<QuestionReply, QuestionReplied>({
    canAnswer: canAnswer && !watches,
    over,
    deliver,
    onPress,
    onAnswered,
  });
  const guard = usePressGuard(card, card, ready, epoch, refuse);
  const sent = state.sent && "answer" in state.sent ? state.sent.answer : null;
  const { choices, server } = question;
  const page = question.url ? linkOf(question.url) : null;
  const onKeyDown = (event: KeyboardEvent) => {
    const choice = choices[Number(event.key) - 1];
    const typing = event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey;
    if (!choice || typing || event.repeat || !ready) {
      return;
    }
    if (guard.takesKeys()) {
      give({ answer: choice });
    } else {
      refuse("early");
    }
  };
  return (
    <Card
      ref={card}
      tone={closed ? "plain" : "accent"}
      data-testid={over ? "question-answered" : "question-card"}
      data-card={question.id}
      data-asks={closed ? undefined : ""}
      role="group"
      aria-label={t("chat.approvals.question", { question: question.question })}
      className="rise my-3 overflow-clip"
      onKeyDown={onKeyDown}
    >
      <div className="sticky top-0 z-20 flex items-start gap-3 bg-inherit px-4 pt-3.5 pb-2">
        <QuestionIcon className="mt-0.5 shrink-0 text-accent text-xl" />
        <div className="min-w-0 flex-1">
          <p data-testid="question-from" className="caption break-words text-accent">
            {server
              ? t("chat.approvals.serverAsks", { server: visible(server) })
              : t("chat.approvals.theAgentWantsToKnow")}
          </p>
          <h2
            tabIndex={-1}
            data-heading
            dir="auto"
            className="max-h-[25dvh] overflow-y-auto whitespace-pre-wrap break-words rounded-sm font-semibold [overflow-wrap:anywhere]"
          >
            {visible(question.question)}
          </h2>
        </div>
      </div>
      {server && !closed && !watches ? (
        <p className="px-4 text-muted text-sm">{t("chat.approvals.serverGetsIt")}</p>
      ) : null}
      {page && !closed && !watches ? (
        <a
          href={page}
          target="_blank"
          rel="noopener noreferrer"
          data-testid="question-page"
          className="touchable mx-4 mt-2 inline-flex max-w-full items-center break-all rounded-md border border-line-strong bg-surface px-3.5 py-1.5 font-medium text-sm"
        >
          {t("chat.approvals.openPage", { domain: visible(domainOf(page)) })}
        </a>
      ) : null}
      {choices.length > 0 && (watches || closed) ? (
        <ul className="mt-1 list-disc space-y-1 px-4 pl-9 text-muted text-sm">
          {choices.map((choice) => (
            <li key={choice} dir="auto" className="break-words [overflow-wrap:anywhere]">
              {visible(choice)}
            </li>
          ))}
        </ul>
      ) : choices.length > 0 ? (
        <ol className="mt-1 grid gap-2 px-4">
          {choices.map((choice, i) => (
            <li key={choice} className="min-w-0">
              <Button
                data-testid="question-choice"
                aria-busy={sent === choice || undefined}
                disabled={!canAnswer}
                {...guard.button(`choice ${i}`, () => give({ answer: choice }))}
                className="w-full justify-start whitespace-normal! text-left"
              >
                {sent === choice ? <Spinner /> : <kbd className="shrink-0 font-mono text-faint text-xs">{i + 1}</kbd>}
                <span dir="auto" className="min-w-0 flex-1 break-words text-left [overflow-wrap:anywhere]">
                  {visible(choice)}
                </span>
              </Button>
            </li>
          ))}
        </ol>
      ) : null}
      {closed ? null : watches ? (
        <Watching />
      ) : (
        <OwnWords
          label={choices.length > 0 ? t("chat.approvals.anotherAnswer") : t("chat.approvals.yourAnswer")}
          busy={sent !== null && !choices.includes(sent)}
          disabled={!canAnswer || state.sent !== null}
          deadline={question.deadline}
          guard={guard}
          declines={server !== undefined}
          onAnswer={(text) => give({ answer: text })}
          onSkip={() => give({ skip: true })}
        />
      )}
      <Ended state={state} over={over} replied={replied} me={me} refused={refused} ofServer={server !== undefined} />
    </Card>
  );
}

interface OwnWordsProps {
  label: string;
  busy: boolean;
  disabled: boolean;
  deadline: number | undefined;
  guard: Guard;
  /** Whether the other button declines what a server asks. */
  declines: boolean;
  onAnswer: (text: string) => void;
  onSkip: () => void;
}

function OwnWords({ label, busy, disabled, deadline, guard, declines, onAnswer, onSkip }: OwnWordsProps) {
  const [text, setText] = useState("");
  const [error, setError] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const trimmed = text.trim();
    if (trimmed === "") {
      return setError(t("chat.approvals.enterAnAnswerOrLet"));
    }
    if (new TextEncoder().encode(trimmed).length > MAX_ANSWER) {
      return setError(t("chat.approvals.thisAnswerIsTooLong"));
    }
    setError(null);
    onAnswer(trimmed);
  };
  return (
    // Not sticky: at the edge of the window it would cover the choices while the card scrolls into view.
    <form
      onSubmit={submit}
      noValidate
      data-testid="question-actions"
      className="mt-3 border-accent/40 border-t px-4 pt-2 pb-3"
    >
      <TextField
        label={label}
        data-testid="question-answer"
        value={text}
        error={error}
        disabled={disabled}
        autoComplete="off"
        enterKeyHint="send"
        onChange={(event) => setText(event.target.value)}
      />
      <div className="mt-2 sm:flex sm:items-center sm:justify-between sm:gap-2">
        <p className="mb-2 text-muted text-xs sm:mb-0">
          {deadline ? t("chat.approvals.continuesWithoutAnAnswerAt", { time: timeOf(deadline) }) : null}
        </p>
        <div className="grid grid-cols-2 gap-2 sm:flex">
          <Button tone="quiet" data-testid="question-skip" disabled={disabled} {...guard.button("skip", onSkip)}>
            {declines ? t("chat.approvals.decline") : t("chat.approvals.letTheAgentDecideButton")}
          </Button>
          <Button type="submit" tone="primary" data-testid="question-send" busy={busy} disabled={disabled}>
            {t("chat.approvals.answer")}
          </Button>
        </div>
      </div>
    </form>
  );
}

function timeOf(deadline: number): string {
  return new Date(deadline).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });
}

/** Returns the answer that arrived before this browser's, in words. */
function lateText(answered: Replied, who: string): string {
  return answered.outcome === "answered"
    ? capital(t("chat.approvals.answeredFirstWith", { who, answer: answered.answer ?? "" }))
    : answerText(answered, who);
}

/** Returns a text such as "You answered: SQLite". */
function repliedText(answered: Replied, mine: boolean, who: string, ofServer: boolean): string {
  if (ofServer && answered.outcome === "skipped") {
    return mine ? t("chat.approvals.youDeclined") : capital(t("chat.approvals.declined", { who }));
  }
  if (!mine) {
    return capital(answerText(answered, who));
  }
  return answered.outcome === "answered"
    ? t("chat.approvals.youAnswered", { answer: answered.answer ?? "" })
    : t("chat.approvals.youLetTheAgentDecide");
}

interface EndedProps {
  state: AnswerState<QuestionReply, QuestionReplied>;
  over: boolean;
  replied: Replied | null;
  me: string | undefined;
  refused: Refusal | null;
  ofServer: boolean;
}

/** The outcome, for people who did not answer. */
function Ended({ replied, me, ofServer, ...props }: EndedProps) {
  const { sent, answered } = props.state;
  const nameOf = useNames();
  const final = answered ?? (props.over ? replied : null);
  const who = final ? nameOf(final.answeredBy) : "";
  const mine = answered?.won ?? (final !== null && final.answeredBy === me);
  const late = final && sent && !(mine && isSame(final, sent)) ? visible(lateText(final, who)) : null;
  const text = final ? visible(repliedText(final, mine, who, ofServer)) : null;
  return <Outcome {...props} testId="question-outcome" final={text} late={late} line="border-accent/40" />;
}

function isSame(final: Replied, sent: QuestionReply): boolean {
  return "answer" in sent ? final.answer === sent.answer : final.outcome === "skipped";
}
