import { Link, useParams } from "@tanstack/react-router";
import type { ChildState, CrewChild } from "../../api/types";
import { Badge, type Tone } from "../../components/Badge";
import { ChevronRightIcon } from "../../components/icons";

const tones: Record<string, Tone> = { running: "accent", failed: "danger" };

/** The agents that work for a call, each with the way to its session. */
export function CrewList({ members }: { members: readonly CrewChild[] }) {
  return (
    <ul data-testid="crew" aria-label="Agents" className="divide-y divide-line border-line border-t">
      {members.map((member, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the tasks of a call never move
        <li key={i} data-testid="crew-member" data-state={member.state}>
          <Way member={member} />
        </li>
      ))}
    </ul>
  );
}

function Way({ member }: { member: CrewChild }) {
  const { deviceId } = useParams({ strict: false });
  const style = "touchable flex w-full items-center gap-2 px-3 py-1.5 text-sm";
  if (!deviceId || !member.sessionId) {
    return (
      <div className={style}>
        <Member member={member} />
      </div>
    );
  }
  return (
    <Link
      to="/d/$deviceId/s/$sessionId"
      params={{ deviceId, sessionId: member.sessionId }}
      className={`${style} hover:bg-sunken`}
    >
      <Member member={member} />
      <ChevronRightIcon className="shrink-0 text-faint" />
    </Link>
  );
}

function Member({ member }: { member: CrewChild }) {
  const asks = (member.approvals?.length ?? 0) > 0;
  const running = member.state === "running";
  return (
    <>
      <span className="min-w-0 flex-1">
        <span dir="auto" className="line-clamp-2 break-words [overflow-wrap:anywhere]">
          {member.title}
        </span>
        <span className="block truncate text-faint text-xs">
          {member.agent}
          {running && member.doing ? ` · ${member.doing}` : ""}
        </span>
        {member.error ? <span className="line-clamp-3 break-words text-danger text-xs">{member.error}</span> : null}
      </span>
      <Badge tone={asks ? "warn" : (tones[member.state] ?? "neutral")} live={running}>
        {asks ? "waits for you" : words[member.state]}
      </Badge>
    </>
  );
}

const words: Record<ChildState, string> = {
  queued: "waits its turn",
  running: "running",
  completed: "done",
  failed: "failed",
  cancelled: "cancelled",
};
