import { type ReactNode, Suspense, useEffect, useState } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { reloadFromServer } from "../../api/reload";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/Notice";
import { Sheet } from "../../components/Sheet";
import { RefreshIcon, WarningIcon } from "../../components/shell-icons";
import { t } from "../../i18n/shared";
import { MissingChunk, mayReload, whyMissing } from "./missing-chunk";

type Why = "asking" | "reloading" | "updated" | "unreachable" | "unknown";

/** The texts for each case. */
const texts: Record<Why, () => { title: string; text: string }> = {
  asking: () => ({ title: t("shared.missingPart.loading"), text: t("shared.missingPart.asking") }),
  reloading: () => ({ title: t("shared.missingPart.updated"), text: t("shared.missingPart.reloading") }),
  updated: () => ({ title: t("shared.missingPart.updated"), text: t("shared.missingPart.reloadToContinue") }),
  unreachable: () => ({ title: t("shared.missingPart.notLoaded"), text: t("shared.missingPart.unreachable") }),
  unknown: () => ({ title: t("shared.missingPart.notLoaded"), text: t("shared.missingPart.unknown") }),
};

export interface MissingPartProps {
  /** Reloads the page. */
  reload?: () => void;
}

/** Shows why a part of the page is missing. After an update it reloads the page, once. */
export function MissingPart({ reload = () => void reloadFromServer() }: MissingPartProps) {
  const [why, setWhy] = useState<Why>("asking");
  const [reloadNow] = useState(() => reload);
  useEffect(() => {
    let here = true;
    void whyMissing().then((missing) => {
      if (!here) {
        return;
      }
      if (missing.why !== "updated") {
        return setWhy(missing.why);
      }
      const itself = mayReload(missing.script);
      setWhy(itself ? "reloading" : "updated");
      if (itself) {
        reloadNow();
      }
    });
    return () => {
      here = false;
    };
  }, [reloadNow]);
  const { title, text } = texts[why]();
  return (
    <div role="status" data-testid="missing-part" data-why={why}>
      <EmptyState
        icon={why === "asking" || why === "reloading" ? <RefreshIcon /> : <WarningIcon />}
        title={title}
        actions={
          why === "asking" || why === "reloading" ? null : (
            <Button tone="primary" onClick={reloadNow}>
              {t("shared.missingPart.reload")}
            </Button>
          )
        }
      >
        {text}
      </EmptyState>
    </div>
  );
}

export interface LazyPartProps {
  /** Set around a sheet: closes it. Without it, nothing is shown in place of a missing part. */
  onClose?: () => void;
  children: ReactNode;
}

/** Wraps a part that loads on demand. If it cannot be loaded, everything around it stays in place. */
export function LazyPart({ onClose, children }: LazyPartProps) {
  return (
    <ErrorBoundary
      fallbackRender={({ error }) => {
        if (!(error instanceof MissingChunk)) {
          throw error;
        }
        return onClose ? (
          <Sheet title={t("shared.missingPart.notLoaded")} onClose={onClose}>
            <MissingPart />
          </Sheet>
        ) : null;
      }}
    >
      <Suspense>{children}</Suspense>
    </ErrorBoundary>
  );
}
