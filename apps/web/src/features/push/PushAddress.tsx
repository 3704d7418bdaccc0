import type { HostSubscription } from "../../api/types";
import { Dot } from "../../components/Badge";
import { Button } from "../../components/Button";
import { t } from "../../i18n/push";
import { clock } from "../shared/time";

export interface PushAddressProps {
  subscription: HostSubscription;
  busy: string | null;
  onTest: () => void;
  onRemove: () => void;
}

function nameOf({ kind, label }: HostSubscription): string {
  switch (kind) {
    case "web":
      return t("push.address.thisBrowser");
    case "chat":
      return label || t("push.address.chat");
    default:
      return label || t("push.address.topic");
  }
}

/** An address to which the host sends notifications, and how the last delivery ended. */
export function PushAddress({ subscription, busy, onTest, onRemove }: PushAddressProps) {
  const { id, kind, server, lastAt, lastError, reduced, waiting } = subscription;
  return (
    <li data-testid="push-address" className="py-3">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <bdi className="min-w-0 font-medium text-sm [overflow-wrap:anywhere]">{nameOf(subscription)}</bdi>
        <span className="min-w-0 break-all font-mono text-faint text-xs">{server}</span>
      </p>
      <p data-testid="push-last" className="mt-0.5 flex items-baseline gap-x-1.5 text-sm">
        <Dot tone={lastError ? "warn" : lastAt ? "accent" : "neutral"} />
        <span className={lastError ? "text-warn [overflow-wrap:anywhere]" : "text-muted"}>
          {lastAt
            ? lastError
              ? t("push.address.failed", { time: clock(lastAt), reason: lastError })
              : t("push.address.delivered", { time: clock(lastAt) })
            : t("push.address.none")}
        </span>
      </p>
      {waiting ? <p className="mt-0.5 text-muted text-sm">{t("push.address.waiting", { count: waiting })}</p> : null}
      {kind === "web" ? null : (
        <p className="mt-0.5 text-muted text-sm">
          {reduced
            ? t("push.address.reduced")
            : kind === "chat"
              ? t("push.address.chatReadable")
              : t("push.address.readable")}
        </p>
      )}
      <div className="mt-2 flex flex-wrap gap-2">
        <Button data-testid="push-test" busy={busy === `test ${id}`} disabled={busy !== null} onClick={onTest}>
          {t("push.address.test")}
        </Button>
        <Button data-testid="push-off" busy={busy === `remove ${id}`} disabled={busy !== null} onClick={onRemove}>
          {kind === "web" ? t("push.address.turnOff") : t("push.address.remove")}
        </Button>
      </div>
    </li>
  );
}
