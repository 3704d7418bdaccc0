import { Button } from "../../../components/Button";
import { RefreshIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { useHistory } from "../context/history-context";
import type { Row } from "./rows";

export interface RetryProps {
  rows: readonly Row[];
  onContinue: () => void;
}

/**
 * The actions for a turn that failed or was canceled. A turn that has called tools can be continued, because their
 * changes remain; any other is sent again.
 */
export function Retry({ rows, onContinue }: RetryProps) {
  const { resend } = useHistory();
  const at = rows.findLastIndex((row) => row.kind === "user" && !row.entry.steer);
  const prompt = rows[at];
  if (!resend || prompt?.kind !== "user") {
    return null;
  }
  const worked = rows.slice(at).some((row) => row.kind === "assistant" && row.tools.size > 0);
  return (
    <p className="my-3 flex flex-wrap items-center gap-x-3 gap-y-1 text-faint text-xs">
      {worked ? (
        <Button data-testid="continue-turn" onClick={onContinue}>
          <RefreshIcon /> {t("chat.transcript.continueTurn")}
        </Button>
      ) : (
        <>
          <Button data-testid="retry-turn" onClick={() => resend(prompt.entry.id)}>
            <RefreshIcon /> {t("chat.transcript.retry")}
          </Button>
          <span>{t("chat.transcript.retryKeeps")}</span>
        </>
      )}
    </p>
  );
}
