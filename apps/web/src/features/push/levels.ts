import { t } from "../../i18n/push";

/** Returns what a person can be notified of, from most to least. */
export function levelOptions(): { value: string; label: string }[] {
  return [
    { value: "all", label: t("push.level.all") },
    { value: "needs", label: t("push.level.needs") },
    { value: "none", label: t("push.level.none") },
  ];
}
