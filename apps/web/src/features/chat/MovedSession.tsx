import { Link } from "wouter";
import type { SessionState, SessionView } from "../../api/contract";
import { CopyButton } from "../../components/CopyButton";
import { MachineIcon } from "../../components/icons";
import { EmptyState } from "../../components/Notice";
import { t } from "../../i18n/move";
import { address } from "../route/address";
import { useReadable, useScorel } from "../shared/scorel-context";
import { KeptDraft } from "./KeptDraft";
import { OutgoingRows } from "./queue/OutgoingRows";

const link = "touchable inline-flex items-center font-medium text-accent underline underline-offset-2";

export interface MovedSessionProps {
  /** The host that has the session now. */
  to: string;
  draftKey: string;
  state: SessionState;
  view: SessionView;
}

/** The page of a session that has moved to another host: names the host, and keeps unsent text visible. */
export default function MovedSession({ to, draftKey, state, view }: MovedSessionProps) {
  const devices = useReadable(useScorel().devices);
  const there = devices?.find(({ id, revoked, problem }) => id === to && !revoked && !problem);
  const waiting = state.outgoing.filter(({ mine, state: at }) => mine && at !== "host");
  return (
    <div data-testid="session-moved" className="safe-x safe-b mx-auto w-full max-w-3xl flex-1 overflow-y-auto">
      <EmptyState
        icon={<MachineIcon />}
        title={t("move.gone.title")}
        actions={
          there ? (
            <Link to={address.session(to, view.sessionId)} className={link}>
              {t("move.gone.open", { label: there.label })}
            </Link>
          ) : (
            <Link to="/pair" className={link}>
              {t("move.gone.pair")}
            </Link>
          )
        }
      >
        {there ? t("move.gone.isOn", { label: there.label }) : t("move.gone.notPaired")}
      </EmptyState>
      {there ? null : (
        <div className="mb-6 flex items-center justify-center gap-1 text-sm">
          <code data-testid="moved-to" className="min-w-0 break-all font-mono text-muted">
            {to}
          </code>
          <CopyButton text={to} label={t("move.gone.copyId")} />
        </div>
      )}
      <KeptDraft draftKey={draftKey} />
      {waiting.length > 0 ? (
        <section className="mt-6">
          <h2 className="mb-2 font-medium text-sm">{t("move.gone.waiting")}</h2>
          <OutgoingRows prompts={waiting} queue={[]} running={false} view={view} />
        </section>
      ) : null}
    </div>
  );
}
