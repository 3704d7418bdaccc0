import { type FormEvent, type KeyboardEvent, useState } from "react";
import type { QuestionReplied, QuestionReply } from "../../api/contract";
import { MAX_ANSWER, type Question } from "../../api/types";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { QuestionIcon } from "../../components/icons";
import { TextField } from "../../components/TextField";
import { answerText } from "./Answered";
import { useNames } from "./live-context";
import { type AnswerState, useAnswer } from "./use-answer";
import { visible } from "./visible";
import { Watching } from "./Watching";

export interface QuestionCardProps {
  question: Question;
  /** Whether this browser may answer, and the machine can hear it now. */
  canAnswer: boolean;
  /** Whether this browser has no right to answer at all. */
  watches?: boolean;
  onReply: (question: Question, reply: QuestionReply) => Promise<QuestionReplied>;
}

/** The agent wants to know something. It waits until somebody answers, or the time is up. */
export function QuestionCard({ question, canAnswer, watches = false, onReply }: QuestionCardProps) {
  const { state, answer } = useAnswer<QuestionReply, QuestionReplied>((reply) => onReply(question, reply));
  const disabled = !canAnswer || state.sent !== null;
  const sent = state.sent && "answer" in state.sent ? state.sent.answer : null;
  const { choices } = question;
  const onKeyDown = (event: KeyboardEvent) => {
    const choice = choices[Number(event.key) - 1];
    const typing = event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey;
    if (choice && !typing && !disabled) answer({ answer: choice });
  };
  return (
    <Card
      tone="accent"
      data-testid="question-card"
      data-asks
      role="group"
      aria-label={`Question: ${question.question}`}
      className="rise my-3 overflow-hidden"
      onKeyDown={onKeyDown}
    >
      <div className="flex items-start gap-3 px-4 pt-3.5">
        <QuestionIcon className="mt-0.5 shrink-0 text-accent text-xl" />
        <div className="min-w-0 flex-1">
          <p className="caption text-accent">The agent wants to know</p>
          <p dir="auto" className="whitespace-pre-wrap break-words font-semibold">
            {visible(question.question)}
          </p>
        </div>
      </div>
      {choices.length > 0 && watches ? (
        <ul className="mt-3 list-disc space-y-1 px-4 pl-9 text-muted text-sm">
          {choices.map((choice) => (
            <li key={choice} dir="auto" className="break-words [overflow-wrap:anywhere]">
              {visible(choice)}
            </li>
          ))}
        </ul>
      ) : choices.length > 0 ? (
        <ol className="mt-3 grid gap-2 px-4">
          {choices.map((choice, i) => (
            <li key={choice} className="min-w-0">
              <Button
                data-testid="question-choice"
                busy={sent === choice}
                disabled={disabled}
                onClick={() => answer({ answer: choice })}
                className="w-full justify-start whitespace-normal! text-left"
              >
                <kbd className="shrink-0 font-mono text-faint text-xs">{i + 1}</kbd>
                <span dir="auto" className="min-w-0 flex-1 break-words text-left [overflow-wrap:anywhere]">
                  {visible(choice)}
                </span>
              </Button>
            </li>
          ))}
        </ol>
      ) : null}
      {watches ? (
        <Watching />
      ) : (
        <OwnWords
          label={choices.length > 0 ? "Another answer" : "Your answer"}
          busy={sent !== null && !choices.includes(sent)}
          disabled={disabled}
          deadline={question.deadline}
          onAnswer={(text) => answer({ answer: text })}
          onSkip={() => answer({ skip: true })}
        />
      )}
      <Outcome state={state} />
    </Card>
  );
}

interface OwnWordsProps {
  label: string;
  busy: boolean;
  disabled: boolean;
  deadline: number | undefined;
  onAnswer: (text: string) => void;
  onSkip: () => void;
}

function OwnWords({ label, busy, disabled, deadline, onAnswer, onSkip }: OwnWordsProps) {
  const [text, setText] = useState("");
  const [error, setError] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const trimmed = text.trim();
    if (trimmed === "") return setError("Write an answer first, or let the agent decide.");
    if (new TextEncoder().encode(trimmed).length > MAX_ANSWER)
      return setError("That is too long for an answer; shorten it, or put it into a file and name the file.");
    setError(null);
    onAnswer(trimmed);
  };
  return (
    <form onSubmit={submit} noValidate className="mt-3 px-4 pb-3">
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
          {deadline ? `The agent goes on by itself at ${timeOf(deadline)}.` : null}
        </p>
        <div className="grid grid-cols-2 gap-2 sm:flex">
          <Button tone="quiet" data-testid="question-skip" disabled={disabled} onClick={onSkip}>
            You decide
          </Button>
          <Button type="submit" tone="primary" data-testid="question-send" busy={busy} disabled={disabled}>
            Answer
          </Button>
        </div>
      </div>
    </form>
  );
}

function timeOf(deadline: number): string {
  return new Date(deadline).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

/** From sent to applied; the card stays until the machine takes the question back. */
function Outcome({ state: { sent, answered, error } }: { state: AnswerState<QuestionReply, QuestionReplied> }) {
  const nameOf = useNames();
  const late = answered && !answered.won ? `Too late: ${answerText(answered, nameOf(answered.answeredBy))}` : null;
  const told = late ? null : answered ? "Answered." : sent ? "Sending your answer." : null;
  return (
    <>
      <p role="status" data-testid="question-outcome" className={told ? "px-4 pb-3 text-muted text-sm" : "sr-only"}>
        {told}
      </p>
      {late || error ? (
        <p role="alert" className="break-words border-accent/40 border-t px-4 py-2 text-sm">
          {late ?? error}
        </p>
      ) : null}
    </>
  );
}
