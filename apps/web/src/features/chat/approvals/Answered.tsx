import { cx } from "../../../components/cx";
import { CheckIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { visible } from "../../shared/visible";
import type { ToolAnswer } from "../calls/tool-facts";
import { useNames } from "../context/live-context";

/** Returns the outcome of a question, in words. */
export function answerText({ outcome, answer }: Pick<ToolAnswer, "outcome" | "answer">, who: string): string {
  const words: Record<string, string> = {
    answered: t("chat.approvals.answered", { who, answer: answer ?? "" }),
    skipped: t("chat.approvals.letTheAgentDecide", { who }),
    timed_out: t("chat.approvals.noAnswerInTimeThe"),
    cancelled: t("chat.approvals.canceledBeforeAnAnswer"),
  };
  return words[outcome] ?? t("chat.approvals.itEnded", { outcome });
}

export interface AnsweredProps {
  question: string;
  choices: readonly string[];
  answer: ToolAnswer;
}

/** A question that has ended: its text, its choices and its answer. */
export function Answered({ question, choices, answer }: AnsweredProps) {
  const nameOf = useNames();
  return (
    <>
      <p dir="auto" className="whitespace-pre-wrap break-words font-medium text-sm">
        {visible(question)}
      </p>
      {choices.length > 0 ? (
        <ul className="space-y-0.5 text-sm">
          {choices.map((choice) => (
            <li key={choice} className="flex items-start gap-2">
              <CheckIcon className={cx("mt-0.5 text-accent", choice !== answer.answer && "invisible")} />
              <span
                dir="auto"
                className={cx("min-w-0 break-words [overflow-wrap:anywhere]", choice !== answer.answer && "text-muted")}
              >
                {visible(choice)}
              </span>
            </li>
          ))}
        </ul>
      ) : null}
      <p className="whitespace-pre-wrap break-words text-muted text-sm [overflow-wrap:anywhere]">
        {visible(answerText(answer, nameOf(answer.answeredBy)))}
      </p>
    </>
  );
}
