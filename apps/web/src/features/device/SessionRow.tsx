import { Link } from "@tanstack/react-router";
import type { SessionSummary } from "../../api/types";
import { Badge } from "../../components/Badge";
import { ago } from "../shared/time";
import { sessionTitle } from "./host-data";

export interface SessionRowProps {
  deviceId: string;
  session: SessionSummary;
  now: number;
}

export function SessionRow({ deviceId, session, now }: SessionRowProps) {
  return (
    <Link
      data-testid="session-row"
      to="/d/$deviceId/s/$sessionId"
      params={{ deviceId, sessionId: session.id }}
      className="touchable flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 hover:bg-sunken"
    >
      <span className="min-w-0 flex-1 max-sm:basis-[calc(100%-4rem)]">
        <span dir="auto" className="line-clamp-2 break-words text-sm [overflow-wrap:anywhere] sm:line-clamp-1">
          {sessionTitle(session)}
        </span>
        {session.damaged ? <span className="line-clamp-2 text-danger text-xs">{session.damaged}</span> : null}
      </span>
      {/* Under the title where there is no room beside it. */}
      <span className="flex max-sm:order-last max-sm:basis-full max-sm:empty:hidden">
        <SessionBadge session={session} />
      </span>
      <time
        dateTime={new Date(session.updatedAt).toISOString()}
        className="caption w-12 shrink-0 text-right text-faint"
      >
        {ago(session.updatedAt, now)}
      </time>
    </Link>
  );
}

/** What goes on in a session, most urgent first; nothing when it rests. */
export function SessionBadge({ session }: { session: SessionSummary }) {
  if (session.damaged) return <Badge tone="danger">damaged</Badge>;
  if (session.waitingApproval || session.waitingAnswer) {
    return (
      <Badge tone="warn" live>
        waits for you
      </Badge>
    );
  }
  if (session.running) {
    return (
      <Badge tone="accent" live>
        running
      </Badge>
    );
  }
  return null;
}
