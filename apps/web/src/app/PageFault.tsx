import type { FallbackProps } from "react-error-boundary";
import { Button } from "../components/Button";
import { EmptyState } from "../components/Notice";
import { WarningIcon } from "../components/shell-icons";
import { MissingPart } from "../features/shared/MissingPart";
import { MissingChunk } from "../features/shared/missing-chunk";
import { t } from "../i18n/app";

/** Shown when a page failed, or a part of it could not be loaded. The rest of the app keeps working. */
export function PageFault({ error, resetErrorBoundary }: FallbackProps) {
  if (error instanceof MissingChunk) {
    return <MissingPart />;
  }
  return (
    <main>
      <EmptyState
        icon={<WarningIcon />}
        title={t("app.pageFault.failedToLoad")}
        actions={
          <>
            <Button tone="primary" onClick={resetErrorBoundary}>
              {t("app.pageFault.tryAgain")}
            </Button>
            <Button onClick={() => window.location.reload()}>{t("app.pageFault.reload")}</Button>
          </>
        }
      >
        {t("app.pageFault.explanation", {
          reason: error instanceof Error ? error.message : t("app.pageFault.noReason"),
        })}
      </EmptyState>
    </main>
  );
}
