import { Link } from "wouter";
import type { SessionState, SessionView } from "../../api/contract";
import { MachineIcon, SearchIcon, TerminalIcon, WarningIcon } from "../../components/icons";
import { EmptyState, Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/chat";
import { address } from "../route/address";
import { KeptDraft } from "./KeptDraft";
import { OutgoingRows } from "./queue/OutgoingRows";

/** Shown while nothing is known yet. */
export function Loading() {
  return (
    <div className="safe-x mx-auto w-full max-w-3xl flex-1 py-6">
      <Skeleton label={t("chat.sessionStates.loadingTheSession")} rows={7} />
    </div>
  );
}

/** Shown while the log is being loaded; prompts sent meanwhile are visible already. */
export function LoadingSession({ state, view }: { state: SessionState; view: SessionView }) {
  return (
    <div className="safe-x mx-auto w-full max-w-3xl flex-1 overflow-y-auto py-6">
      {state.lastError ? (
        <Notice tone="danger" icon={<WarningIcon />} title={t("chat.sessionStates.theSessionCouldNotBe")}>
          {state.lastError}
        </Notice>
      ) : null}
      <Skeleton label={t("chat.sessionStates.loadingTheSession")} rows={7} />
      <OutgoingRows prompts={state.outgoing} queue={[]} running={false} view={view} />
    </div>
  );
}

/** Shown when the host cannot be reached and nothing was loaded before. */
export function Elsewhere({ label }: { label: string }) {
  return (
    <EmptyState icon={<MachineIcon />} title={t("chat.sessionStates.notAvailableOffline")}>
      {t("chat.sessionStates.theSessionAppearsAsSoon", { label })}
    </EmptyState>
  );
}

/** Shown in a session without messages. */
export function Beginning() {
  return (
    <EmptyState icon={<TerminalIcon />} title={t("chat.sessionStates.whatShouldTheAgentDo")}>
      {t("chat.sessionStates.itWorksInTheProject")}
    </EmptyState>
  );
}

/** Shown when the host has no such session. */
export function Missing({ deviceId, label, draftKey }: { deviceId: string; label: string; draftKey: string }) {
  return (
    <>
      <EmptyState
        icon={<SearchIcon />}
        title={t("chat.sessionStates.sessionNotFound")}
        actions={
          <Link
            to={address.machine(deviceId)}
            className="touchable inline-flex items-center font-medium text-accent underline underline-offset-2"
          >
            {t("chat.sessionStates.showTheSessionsOn", { label })}
          </Link>
        }
      >
        {t("chat.sessionStates.hasNoSessionWithThis", { label })}
      </EmptyState>
      <div className="safe-x mx-auto w-full max-w-3xl">
        <KeptDraft draftKey={draftKey} />
      </div>
    </>
  );
}
