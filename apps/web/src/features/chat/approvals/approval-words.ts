// The outcome of an approval, in words.
import { t } from "../../../i18n/chat";
import { capital } from "../../shared/errors";
import { releasedBy } from "../mode/released";
import type { Decided } from "./decided";
import type { Refusal } from "./use-press-guard";

type NameOf = (clientId: string) => string;
type Words = Record<string, () => string>;

/** Returns a text such as "You allowed it." or "Denied from Anna's phone." */
export function decisionText(
  { decision, decidedBy, released }: Decided,
  mine: boolean,
  nameOf: NameOf,
  choice?: string,
): string {
  const who = nameOf(decidedBy);
  if (choice !== undefined) {
    return mine ? t("chat.approvals.youChose", { choice }) : t("chat.approvals.choseFrom", { who, choice });
  }
  if (released) {
    return capital(t("chat.approvals.alreadyAllowedAfterAChange", { reason: releasedBy(released), who }));
  }
  const words: Words = mine
    ? {
        allow: () => t("chat.approvals.youAllowedIt"),
        always: () => t("chat.approvals.youAllowedItRuleSaved"),
        deny: () => t("chat.approvals.youDeniedIt"),
        stop: () => t("chat.approvals.youDeniedItTurnStopped"),
      }
    : {
        allow: () => t("chat.approvals.allowedFrom", { who }),
        always: () => t("chat.approvals.allowedFromRuleSaved", { who }),
        deny: () => t("chat.approvals.deniedFrom", { who }),
        stop: () => t("chat.approvals.deniedFromTurnStopped", { who }),
      };
  return inWords(decision, words);
}

/** Returns the text for a person whose answer came second. */
export function lateText({ decision, decidedBy, released }: Decided, nameOf: NameOf): string {
  const who = nameOf(decidedBy);
  const outcome = inWords(decision, {
    allow: () => t("chat.approvals.allowedOnce"),
    always: () => t("chat.approvals.allowedRuleSaved"),
    deny: () => t("chat.approvals.denied"),
    stop: () => t("chat.approvals.deniedTurnStopped"),
  });
  const first = released
    ? t("chat.approvals.alreadyAllowedAfterAChange", { reason: releasedBy(released), who })
    : t("chat.approvals.answeredFirst", { who });
  return decision === "cancelled" || released ? capital(released ? first : outcome) : `${capital(first)} ${outcome}`;
}

function inWords(decision: string, words: Words): string {
  const cancelled = () => t("chat.approvals.theTurnWasCanceled");
  const other = () => t("chat.approvals.answeredShort");
  return ({ ...words, cancelled }[decision] ?? other)();
}

/** Returns why a press did not count, and what to do. */
export function refusalText(why: Refusal): string {
  return why === "early" ? t("chat.approvals.pressedTooEarly") : t("chat.approvals.pressedUnderAPointer");
}
