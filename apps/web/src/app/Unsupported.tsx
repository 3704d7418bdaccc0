import { WarningIcon } from "../components/shell-icons";
import { Wordmark } from "../features/shared/Wordmark";
import { t } from "../i18n/app";

/** Shows why the page cannot work here, and what to do. */
export function Unsupported({ reason, advice }: { reason: string; advice: string }) {
  return (
    <main
      data-testid="unsupported"
      className="safe-x mx-auto flex h-full max-w-xl flex-col pt-[calc(1.25rem+env(safe-area-inset-top))]"
    >
      <Wordmark />
      <div className="my-auto pb-16">
        <WarningIcon className="mb-4 text-3xl text-warn" />
        <h1 className="font-semibold text-2xl tracking-tight">{t("app.unsupported.title")}</h1>
        <p className="mt-3 text-muted">{reason}</p>
        <p className="mt-3 font-medium">{advice}</p>
      </div>
    </main>
  );
}
