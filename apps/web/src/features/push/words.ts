import { keepWords } from "../../api/notices";
import { t } from "../../i18n/push";

/** Returns the words that the service worker needs, which has no catalog of its own. */
function noticeWords(): Record<string, string> {
  return {
    approval: t("push.notice.approval"),
    question: t("push.notice.question"),
    ended: t("push.notice.ended"),
    failed: t("push.notice.failed"),
    budget: t("push.notice.budget"),
    test: t("push.notice.test"),
    gone: t("push.notice.gone"),
    other: t("push.notice.other"),
    allow: t("push.notice.allow"),
    deny: t("push.notice.deny"),
    reply: t("push.notice.reply"),
  };
}

/** Stores the words in the language of the page if this browser shows notifications. */
export async function keepNoticeWords(): Promise<void> {
  if (globalThis.Notification?.permission === "granted") {
    await keepWords(noticeWords());
  }
}
