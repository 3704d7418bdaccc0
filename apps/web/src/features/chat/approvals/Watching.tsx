import { t } from "../../../i18n/chat";
/** Explains why a card has no buttons in this browser. */
export function Watching() {
  return <p className="mt-3 px-4 pb-3.5 text-muted text-sm">{t("chat.approvals.viewOnlyInThisBrowser")}</p>;
}
