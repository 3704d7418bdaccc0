import { Link } from "@tanstack/react-router";
import type { SessionState, SessionView } from "../../api/contract";
import { MachineIcon, SearchIcon, TerminalIcon, WarningIcon } from "../../components/icons";
import { EmptyState, Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { OutgoingRows } from "./OutgoingRows";

/** Nothing is known yet. */
export function Loading() {
  return (
    <div className="safe-x mx-auto w-full max-w-3xl flex-1 py-6">
      <Skeleton label="Reading the session" rows={7} />
    </div>
  );
}

/** The log is on its way; what was written here meanwhile is in sight already. */
export function LoadingSession({ state, view }: { state: SessionState; view: SessionView }) {
  return (
    <div className="safe-x mx-auto w-full max-w-3xl flex-1 overflow-y-auto py-6">
      {state.lastError ? (
        <Notice tone="danger" icon={<WarningIcon />} title="The session could not be read; trying again">
          {state.lastError}
        </Notice>
      ) : null}
      <Skeleton label="Reading the session" rows={7} />
      <OutgoingRows prompts={state.outgoing} queue={[]} running={false} view={view} />
    </div>
  );
}

/** The machine cannot be reached, and nothing was loaded before. */
export function Elsewhere({ label }: { label: string }) {
  return (
    <EmptyState icon={<MachineIcon />} title="The transcript is on the machine">
      It shows here as soon as {label} can be reached.
    </EmptyState>
  );
}

/** Nothing was said yet. */
export function Beginning() {
  return (
    <EmptyState icon={<TerminalIcon />} title="What shall the agent do?">
      It works in the project's folder on the machine. What it does there without asking is the mode, below.
    </EmptyState>
  );
}

/** The machine knows no such session. */
export function Missing({ deviceId, label }: { deviceId: string; label: string }) {
  return (
    <EmptyState
      icon={<SearchIcon />}
      title="This session is not there"
      actions={
        <Link
          to="/d/$deviceId"
          params={{ deviceId }}
          className="touchable inline-flex items-center font-medium text-accent underline underline-offset-2"
        >
          See the sessions on {label}
        </Link>
      }
    >
      {label} knows no session of this address. It may have been removed there.
    </EmptyState>
  );
}
