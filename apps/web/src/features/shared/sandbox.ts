// The restrictions on an agent's commands on a machine, in words.

import type { HostInfo } from "../../api/types";
import { locale } from "../../i18n/i18n";
import { t } from "../../i18n/shared";

export interface SandboxWords {
  /** "none" if nothing restricts commands, "weak" if less does than could. */
  strength: "none" | "weak" | "full";
  title: string;
  /** One sentence each. */
  lines: string[];
  /** Remaining dangers despite a sandbox, one sentence each. */
  warnings: string[];
}

/** Returns null for an older host, which does not report it. */
export function sandboxWords({
  sandbox,
  sandboxNote,
  sandboxLimits: limits,
  runsAsRoot,
}: HostInfo): SandboxWords | null {
  if (!sandbox) {
    return null;
  }
  const why = sandboxNote ? [t("shared.sandbox.why", { reason: sandboxNote })] : [];
  const full = !!limits && sandbox.includes("bubblewrap");
  const root = runsAsRoot ? [full ? t("shared.sandbox.runsAsRoot") : t("shared.sandbox.runsAsRootAutoAsks")] : [];
  if (!limits) {
    return {
      strength: "none",
      title: t("shared.sandbox.none"),
      lines: [t("shared.sandbox.noneExplained"), ...why],
      warnings: root,
    };
  }
  return {
    strength: full ? "full" : "weak",
    title: full ? t("shared.sandbox.full") : t("shared.sandbox.weak"),
    lines: [
      writeWords(limits.writable ?? []),
      networkWords(limits.network),
      ...(full ? [] : [t("shared.sandbox.weakExplained")]),
      ...why,
      ...(limits.missing ?? []).map((path) => t("shared.sandbox.missing", { path })),
      t("shared.sandbox.notRestricted"),
    ],
    warnings: [...root, ...(limits.exposed ?? []).map((path) => t("shared.sandbox.exposed", { path }))],
  };
}

function writeWords(writable: readonly string[]): string {
  const folders = new Intl.ListFormat(locale()).format([t("shared.sandbox.theProject"), ...writable]);
  return t("shared.sandbox.writeAccess", { folders });
}

function networkWords(network: string): string {
  switch (network) {
    case "open":
      return t("shared.sandbox.networkOpen");
    case "closed":
      return t("shared.sandbox.networkClosed");
    case "no_tcp":
      return t("shared.sandbox.networkNoTcp");
    default:
      return t("shared.sandbox.networkOther", { network });
  }
}
