import { useEffect, useState } from "react";
import type { Live, ModelRetry } from "../../../api/types";
import { Spinner } from "../../../components/Spinner";
import { t } from "../../../i18n/chat";
import { visible } from "../../shared/visible";

/** Shows that the turn is running while there is nothing to read yet, or that it is about to stop. */
export function Working({ live }: { live: Live }) {
  const writes = live.partial.length > 0;
  if (!live.turn || live.approvals.length + live.questions.length > 0 || (writes && !live.turn.cancelling)) {
    return null;
  }
  if (live.retry && !live.turn.cancelling) {
    return <Retrying key={live.retry.attempt} retry={live.retry} />;
  }
  const text = live.turn.cancelling
    ? t("chat.messages.stopping")
    : live.tools.length > 0
      ? null
      : t("chat.messages.working");
  if (!text) {
    return null;
  }
  return (
    <p className="my-3 flex items-center gap-2 text-faint text-sm">
      <Spinner /> {text}
    </p>
  );
}

/** Shows why the model is called again, and when. */
function Retrying({ retry }: { retry: ModelRetry }) {
  const { reason, attempt, attempts, delayMs } = retry;
  const [due, setDue] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), delayMs);
    return () => clearTimeout(timer);
  }, [delayMs]);
  return (
    <p data-testid="model-retry" className="my-3 flex items-baseline gap-2 text-sm text-warn">
      <Spinner className="shrink-0 translate-y-[0.15em]" />
      <span className="min-w-0 break-words [overflow-wrap:anywhere]">
        {visible(reason)}{" "}
        {due
          ? t("chat.messages.tryingAgainNow", { attempt, attempts })
          : t("chat.messages.tryingAgainIn", { seconds: Math.ceil(delayMs / 1000), attempt, attempts })}
      </span>
    </p>
  );
}
