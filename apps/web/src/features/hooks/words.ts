import type { Hook, HookRun } from "../../api/types";
import type { Tone } from "../../components/Badge";
import { t } from "../../i18n/hooks";

/** The state of a hook, in words and as a tone. */
export function stateOf({ state }: Hook): { text: string; tone: Tone } {
  switch (state) {
    case "ready":
      return { text: t("hooks.state.ready"), tone: "accent" };
    case "disabled":
      return { text: t("hooks.state.disabled"), tone: "neutral" };
    case "untrusted":
      return { text: t("hooks.state.untrusted"), tone: "neutral" };
    case "needs_consent":
      return { text: t("hooks.state.needsYou"), tone: "warn" };
    case "denied":
      return { text: t("hooks.state.denied"), tone: "danger" };
    case "failed":
      return { text: t("hooks.state.failed"), tone: "danger" };
    default:
      return { text: state, tone: "neutral" };
  }
}

/** Says what a run of a hook led to, with its reason. */
export function outcomeText({ outcome, text }: HookRun): string {
  const words = {
    nothing: () => t("hooks.outcome.nothing"),
    added: () => t("hooks.outcome.added"),
    asked: () => t("hooks.outcome.asked"),
    denied: () => t("hooks.outcome.denied"),
    failed: () => t("hooks.outcome.failed"),
  }[outcome as string];
  return [words?.() ?? outcome, text].filter(Boolean).join(": ");
}
