import type { Extension, ExtensionChange } from "../../api/types";
import type { Tone } from "../../components/Badge";
import { t } from "../../i18n/extensions";
import { visible } from "../shared/visible";

/** The state of an extension, in words and as a tone. */
export function stateOf({ state }: Extension): { text: string; tone: Tone } {
  switch (state) {
    case "enabled":
      return { text: t("extensions.state.enabled"), tone: "accent" };
    case "disabled":
      return { text: t("extensions.state.disabled"), tone: "neutral" };
    case "untrusted":
      return { text: t("extensions.state.untrusted"), tone: "neutral" };
    case "needs_consent":
      return { text: t("extensions.state.needsYou"), tone: "warn" };
    case "denied":
      return { text: t("extensions.state.denied"), tone: "danger" };
    case "changed":
      return { text: t("extensions.state.changed"), tone: "warn" };
    case "failed":
      return { text: t("extensions.state.failed"), tone: "danger" };
    default:
      return { text: state, tone: "neutral" };
  }
}

/** Says where an extension came from. */
export function placeText({ location, ref, folder }: Extension): string {
  return visible([location, folder, ref ? `@${ref}` : ""].filter(Boolean).join(" "));
}

export function changeText({ change, what, name }: ExtensionChange): string {
  const values = { what: `${what} ${visible(name)}` };
  switch (change) {
    case "added":
      return t("extensions.change.added", values);
    case "removed":
      return t("extensions.change.removed", values);
    default:
      return t("extensions.change.changed", values);
  }
}
