import { t } from "../../../i18n/chat";

const texts: Partial<Record<string, () => string>> = {
  running: () => t("chat.operations.running"),
  completed: () => t("chat.operations.done"),
  failed: () => t("chat.operations.failed"),
  cancelled: () => t("chat.operations.canceled"),
};

/** Returns the status of a process in words; an unknown one as it is. */
export function statusText(status: string): string {
  return texts[status]?.() ?? status;
}
