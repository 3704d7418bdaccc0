import type { Host, SessionState } from "../../api/contract";
import type { HostInfo, SessionSummary } from "../../api/types";
import { ContextMeter } from "../session/ContextMeter";
import { SessionCost } from "../session/SessionSpent";
import { may } from "../shared/grants";
import { BackendOptions } from "./mode/BackendOptions";
import { SessionMode } from "./mode/SessionMode";

export interface SessionFactsProps {
  host: Host;
  /** null until the host has sent it. */
  info: HostInfo | null;
  session: SessionSummary;
  state: SessionState;
}

/** What a session has used, and the settings of its agent. */
export function SessionFacts({ host, info, session, state }: SessionFactsProps) {
  const model = info?.models.find((each) => each.name === session.model);
  return (
    <>
      <ContextMeter host={host} sessionId={session.id} entries={state.entries} contextWindow={model?.contextWindow} />
      <SessionCost session={session} />
      {session.backend && may(info, "prompt") ? (
        <BackendOptions host={host} deviceId={host.deviceId} session={session} entries={state.entries} />
      ) : null}
      <SessionMode host={host} info={info} session={session} live={state.status === "live"} />
    </>
  );
}
