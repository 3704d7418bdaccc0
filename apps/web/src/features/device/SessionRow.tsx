import { Link } from "wouter";
import type { Host } from "../../api/contract";
import type { HostInfo, SessionSummary } from "../../api/types";
import { Badge } from "../../components/Badge";
import { PinIcon } from "../../components/icons";
import { t } from "../../i18n/device";
import { address } from "../route/address";
import { SessionMenu } from "../session/SessionMenu";
import { sessionTitle } from "../shared/host-data";
import { useReadable } from "../shared/scorel-context";
import { ago } from "../shared/time";
import { WaitingBadge } from "../status/WaitingBadge";

export interface SessionRowProps {
  host: Host;
  /** null until the host has sent it. */
  info: HostInfo | null;
  session: SessionSummary;
  now: number;
}

export function SessionRow({ host, info, session, now }: SessionRowProps) {
  const reachable = useReadable(host.status) === "open";
  return (
    <div className="flex items-center pr-2 hover:bg-sunken">
      <Link
        data-testid="session-row"
        to={address.session(host.deviceId, session.id)}
        className="touchable flex min-h-11 min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1 py-2 pl-4"
      >
        <span className="min-w-0 flex-1 max-sm:basis-[calc(100%-4rem)]">
          <span dir="auto" className="line-clamp-2 break-words text-sm [overflow-wrap:anywhere] sm:line-clamp-1">
            {session.pinned ? <Pinned /> : null}
            {sessionTitle(session)}
          </span>
          {session.damaged ? <span className="line-clamp-2 text-danger text-xs">{session.damaged}</span> : null}
        </span>
        {/* Below the title if there is no room beside it. */}
        <span className="flex gap-1.5 max-sm:order-last max-sm:basis-full max-sm:empty:hidden">
          <WaitingBadge deviceId={host.deviceId} sessionId={session.id} />
          <SessionBadge session={session} reachable={reachable} />
        </span>
        <time
          dateTime={new Date(session.updatedAt).toISOString()}
          className="caption min-w-12 shrink-0 whitespace-nowrap text-right text-faint"
        >
          {ago(session.updatedAt, now)}
        </time>
      </Link>
      <SessionMenu
        host={host}
        info={info}
        session={session}
        label={t("device.sessionRow.detailsOf", { title: sessionTitle(session) })}
      />
    </div>
  );
}

/** A mark before the title of a pinned session. */
export function Pinned() {
  return (
    <>
      <PinIcon className="mr-1.5 inline-block align-[-0.15em] text-accent" />
      <span className="sr-only">{t("device.sessionRow.pinned")}</span>
    </>
  );
}

/** The state of a session, most urgent first; renders nothing for an idle one. It is gray while the host is offline. */
export function SessionBadge({ session, reachable }: { session: SessionSummary; reachable: boolean }) {
  if (session.damaged) {
    return <Badge tone="danger">{t("device.sessionRow.damaged")}</Badge>;
  }
  if (session.waitingApproval || session.waitingAnswer) {
    return (
      <Badge tone={reachable ? "warn" : "neutral"} live={reachable}>
        {t("device.sessionRow.needsYou")}
      </Badge>
    );
  }
  if (session.running) {
    return (
      <Badge tone={reachable ? "accent" : "neutral"} live={reachable}>
        {t("device.sessionRow.working")}
      </Badge>
    );
  }
  return null;
}
