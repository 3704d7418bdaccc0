// Why a call was released without an answer, in words.
import type { Release } from "../../../api/types";
import { t } from "../../../i18n/chat";
import { nameOfMode } from "../../shared/modes";

/** Returns a text such as "Allowed by the rule bash(make)". */
export function releasedBy({ rules, mode }: Release): string {
  const what: string[] = [];
  if (rules?.length === 1) {
    what.push(t("chat.mode.theRule", { rule: rules[0] }));
  } else if (rules?.length) {
    what.push(t("chat.mode.theRules", { rules: rules.join(", ") }));
  }
  if (mode) {
    what.push(t("chat.mode.thePermissionMode", { mode: nameOfMode(mode) }));
  }
  return what.length > 0
    ? t("chat.mode.by", { what: what.join(t("chat.mode.and")) })
    : t("chat.mode.becauseNoRuleAsksAbout");
}
