import { t } from "../../../i18n/chat";
import { refusalText } from "./approval-words";
import type { AnswerState } from "./use-answer";
import type { Refusal } from "./use-press-guard";

interface OutcomeProps {
  testId: string;
  state: AnswerState<unknown, unknown>;
  over: boolean;
  refused: Refusal | null;
  /** Who answered and how; null while unknown. */
  final: string | null;
  /** The answer that arrived before this browser's. */
  late: string | null;
  /** The classes of the line above an error. */
  line: string;
}

/** The state of an answer from sent to delivered, and who answered; the card stays for a moment after that. */
export function Outcome({ testId, state: { sent, error }, over, refused, final, late, line }: OutcomeProps) {
  const told =
    final ??
    (over
      ? t("chat.approvals.noLongerNeeded")
      : sent
        ? t("chat.approvals.sendingYourAnswer")
        : refused
          ? refusalText(refused)
          : null);
  const shown = told && !late;
  return (
    <>
      <p
        role="status"
        data-testid={testId}
        className={
          shown ? "break-words px-4 pt-2 pb-3 font-medium text-muted text-sm [overflow-wrap:anywhere]" : "sr-only"
        }
      >
        {shown ? told : null}
      </p>
      {late || (error && final === null) ? (
        <p role="alert" className={`break-words border-t px-4 py-2 text-sm ${line}`}>
          {late ?? error}
        </p>
      ) : null}
    </>
  );
}
