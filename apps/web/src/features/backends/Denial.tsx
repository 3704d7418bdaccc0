import type { Backend } from "../../api/types";
import { t } from "../../i18n/backends";
import { rich } from "../../i18n/rich";

/** Why this browser may not use a program, and what changes that; nothing if it may. */
export function Denial({ backend: { name, title, denied } }: { backend: Backend }) {
  if (!denied) {
    return null;
  }
  if (denied !== "needs_bypass") {
    return <p className="mt-1 text-muted text-sm">{t("backends.denial.needsPrompt", { title })}</p>;
  }
  const setting = <code className="font-mono text-ink">permissions.remote_mode = "bypass"</code>;
  return (
    <div data-testid="backend-denied" className="mt-1 flex flex-col gap-1 text-muted text-sm">
      <p>{t("backends.denial.needsBypass", { title })}</p>
      <p>{t("backends.denial.asks")}</p>
      <pre
        dir="ltr"
        className="overflow-x-auto rounded-md border border-line bg-sunken px-3 py-1.5 font-mono text-ink"
      >{`[backends.${name}]\nasks = true`}</pre>
      <p>{rich((values) => t("backends.denial.bypass", values), { setting })}</p>
    </div>
  );
}
