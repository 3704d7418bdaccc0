import type { HostInfo } from "../../api/types";
import { cx } from "../../components/cx";
import { ShieldIcon, WarningIcon } from "../../components/icons";
import { t } from "../../i18n/shared";
import { sandboxWords } from "./sandbox";

/** The restrictions on the agent's commands, and their gaps. Renders nothing for a host that does not report them. */
export function SandboxState({ info, className }: { info: HostInfo | null; className?: string }) {
  const words = info ? sandboxWords(info) : null;
  if (!words) {
    return null;
  }
  const { strength, title, lines, warnings } = words;
  const Icon = strength === "full" ? ShieldIcon : WarningIcon;
  return (
    <section
      data-testid="sandbox"
      data-strength={strength}
      aria-label={t("shared.sandbox.label")}
      className={cx("flex items-start gap-3 text-sm", className)}
    >
      <Icon className={cx("mt-0.5 text-base", strength === "full" ? "text-accent" : "text-warn")} />
      <div className="min-w-0 flex-1 space-y-1 break-words [overflow-wrap:anywhere]">
        <h3 className={cx("font-medium", strength !== "full" && "text-warn")}>{title}</h3>
        {lines.map((line) => (
          <p key={line} className="text-muted">
            {line}
          </p>
        ))}
        {warnings.map((line) => (
          <p key={line} className="text-danger">
            {line}
          </p>
        ))}
      </div>
    </section>
  );
}
