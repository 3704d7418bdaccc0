import { lazy } from "react";
import type { Host, SessionState, SessionView } from "../../api/contract";
import { CUSTOM_TURN, type HostInfo } from "../../api/types";
import { t } from "../../i18n/chat";
import { may } from "../shared/grants";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";

const BudgetStop = lazy(chunk(() => import("../budgets/BudgetStop")));

export interface BudgetNoticeProps {
  host: Host;
  info: HostInfo | null;
  state: SessionState;
  view: SessionView;
}

/** Shows that a turn stopped because a budget is used up. The host is asked only after a turn that failed. */
export function BudgetNotice({ host, info, state, view }: BudgetNoticeProps) {
  if (state.status !== "live" || !failed(state)) {
    return null;
  }
  return (
    <LazyPart>
      <div className="safe-x mx-auto w-full max-w-3xl">
        <BudgetStop
          {...{ host, info, sessionId: view.sessionId }}
          onContinue={may(info, "prompt") ? () => view.send(t("chat.transcript.continueText")) : null}
        />
      </div>
    </LazyPart>
  );
}

/** Reports whether the last turn failed and nothing has followed it. */
function failed({ live, entries, lastError, outgoing }: SessionState): boolean {
  if (live.turn || outgoing.length > 0) {
    return false;
  }
  const end = entries.findLast(
    (entry) =>
      (entry.type === "custom" && entry.customType === CUSTOM_TURN) ||
      (entry.type === "message" && entry.message.role === "user"),
  );
  const data = end?.type === "custom" ? end.data : null;
  return lastError !== null || (data !== null && typeof data === "object" && "error" in data && Boolean(data.error));
}
