import { t } from "../../../i18n/chat";
/** Why a card has no buttons here. */
export function Watching() {
  return <p className="mt-3 px-4 pb-3.5 text-muted text-sm">{t("chat.approvals.viewOnlyInThisBrowser")}</p>;
}
