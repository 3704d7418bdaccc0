// The access of a client, in words.
import type { Client, Grant, Project } from "../../api/types";
import { t } from "../../i18n/access";
import { locale } from "../../i18n/i18n";

/** The grants that a client can have, from the least to the most. */
export const grants: readonly Grant[] = ["view", "prompt", "approve", "files", "manage", "rules", "shell"];

/** Returns a client's grants as a sentence. A grant of a newer host is shown by its name. */
export function mayDo(given: readonly string[]): string {
  return given.length === 0
    ? t("access.accessSheet.nothing")
    : t("access.accessSheet.grants", { grants: listed(given.map(nameOf)) });
}

/** Returns the projects of the host that a client sees, in words. */
export function seen(client: Client, projects: readonly Project[] | undefined): string {
  if (client.sessionId) {
    return t("access.limits.guest");
  }
  if (!client.projects?.length) {
    return t("access.limits.allProjects");
  }
  const names = client.projects.map((id) => projects?.find((each) => each.id === id)?.name ?? id);
  return t("access.limits.onlyProjects", { projects: listed(names) });
}

/** Returns when its access ends, in words. */
export function untilWhen({ expiresAt }: Client, now: number): string {
  if (!expiresAt) {
    return t("access.limits.noExpiry");
  }
  return expiresAt <= now
    ? t("access.limits.expired", { time: moment(expiresAt) })
    : t("access.limits.until", { time: moment(expiresAt) });
}

/** Formats a date with the time of day. */
export function moment(at: number): string {
  return new Date(at).toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short" });
}

function listed(words: string[]): string {
  return new Intl.ListFormat(locale(), { type: "conjunction" }).format(words);
}

function nameOf(grant: string): string {
  switch (grant) {
    case "view":
      return t("access.grant.view");
    case "prompt":
      return t("access.grant.prompt");
    case "approve":
      return t("access.grant.approve");
    case "manage":
      return t("access.grant.manage");
    case "files":
      return t("access.grant.files");
    case "rules":
      return t("access.grant.rules");
    case "shell":
      return t("access.grant.shell");
    default:
      return grant;
  }
}

/** Returns the label of a grant's switch, and one line on what it allows. */
export function explained(grant: Grant): { label: string; hint: string } {
  switch (grant) {
    case "view":
      return { label: t("access.switch.view"), hint: t("access.switch.viewHint") };
    case "prompt":
      return { label: t("access.switch.prompt"), hint: t("access.switch.promptHint") };
    case "approve":
      return { label: t("access.switch.approve"), hint: t("access.switch.approveHint") };
    case "files":
      return { label: t("access.switch.files"), hint: t("access.switch.filesHint") };
    case "manage":
      return { label: t("access.switch.manage"), hint: t("access.switch.manageHint") };
    case "rules":
      return { label: t("access.switch.rules"), hint: t("access.switch.rulesHint") };
    default:
      return { label: t("access.switch.shell"), hint: t("access.switch.shellHint") };
  }
}
