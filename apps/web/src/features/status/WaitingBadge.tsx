import type { WaitingPrompt } from "../../api/contract";
import { Badge } from "../../components/Badge";
import { ClockIcon, WarningIcon } from "../../components/shell-icons";
import { t } from "../../i18n/status";
import { useWaiting } from "./use-waiting";

export interface WaitingBadgeProps {
  deviceId: string;
  /** If absent, the prompts of all sessions are counted. */
  sessionId?: string;
}

/** The number of waiting or rejected prompts; renders nothing for none. */
export function WaitingBadge({ deviceId, sessionId }: WaitingBadgeProps) {
  return <WaitingCount prompts={useWaiting(deviceId, sessionId)} />;
}

/** The same for given prompts. */
export function WaitingCount({ prompts }: { prompts: readonly WaitingPrompt[] }) {
  if (prompts.length === 0) {
    return null;
  }
  const refused = prompts.filter(({ error }) => error !== null).length;
  const n = refused || prompts.length;
  const label = refused > 0 ? t("status.waiting.notSent", { n }) : t("status.waiting.toSend", { n });
  return (
    <span data-testid="waiting-badge" title={label} className="inline-flex">
      <Badge tone={refused > 0 ? "danger" : "neutral"}>
        <span className="-mx-0.5 inline-flex items-center gap-1">
          {refused > 0 ? <WarningIcon /> : <ClockIcon />}
          <span aria-hidden="true">{n}</span>
          <span className="sr-only">{label}</span>
        </span>
      </Badge>
    </span>
  );
}
