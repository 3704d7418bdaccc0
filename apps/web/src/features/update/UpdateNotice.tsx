import { useEffect, useState } from "react";
import { type Shell, startShell } from "../../api/shell";
import { Button } from "../../components/Button";
import { t } from "../../i18n/update";
import { useReadable, useScorel } from "../shared/scorel-context";
import { whenIdle } from "../shared/when-idle";

/** Caches the page's own files once the browser is idle, and reports when there are new ones. */
export function UpdateNotice({ shell }: { shell: Shell | "page" }) {
  const { link } = useScorel();
  const [started, setStarted] = useState<Shell | null>(shell === "page" ? null : shell);
  useEffect(() => {
    if (started) {
      return;
    }
    return whenIdle(() => setStarted((before) => before ?? startShell(link)));
  }, [link, started]);
  return started ? <Notice shell={started} /> : null;
}

function Notice({ shell }: { shell: Shell }) {
  const updated = useReadable(shell.updated);
  const [later, setLater] = useState(false);
  const shown = updated && !later;
  return (
    <div role="status">
      {shown ? (
        <section
          aria-label={t("update.notice.ready")}
          data-testid="update-notice"
          className="safe-x flex shrink-0 items-center gap-2 border-line border-b bg-sunken py-1.5 text-sm"
        >
          <p className="min-w-0 flex-1">{t("update.notice.ready")}</p>
          <Button onClick={() => shell.update()}>{t("update.notice.reload")}</Button>
          <Button tone="quiet" onClick={() => setLater(true)}>
            {t("update.notice.later")}
          </Button>
        </section>
      ) : null}
    </div>
  );
}
