import { type ReactNode, useState } from "react";
import type { Mode } from "../../../api/types";
import { Button } from "../../../components/Button";
import { cx } from "../../../components/cx";
import { ErrorText } from "../../../components/ErrorText";
import { CheckIcon, WarningIcon } from "../../../components/icons";
import { Notice } from "../../../components/Notice";
import { Sheet } from "../../../components/Sheet";
import { t } from "../../../i18n/chat";
import { highestMode, modes, nameOfMode, rankOf, type SessionModeProps } from "../../shared/modes";
import { SandboxState } from "../../shared/SandboxState";
import { withHelp } from "../../shared/with-help";

/** The available modes. Those that this browser may not set are disabled, with the reason. */
export default function ModeSheet({ host, info, session, live, onClose }: SessionModeProps & { onClose: () => void }) {
  const [busy, setBusy] = useState<Mode | null>(null);
  const [error, setError] = useState<ReactNode>(null);
  const [warned, setWarned] = useState(false);
  const most = info ? highestMode(info) : null;
  const set = async (mode: Mode) => {
    setBusy(mode);
    setError(null);
    try {
      await host.request("set_mode", { sessionId: session.id, mode });
      onClose();
    } catch (cause) {
      setError(withHelp(cause));
      setBusy(null);
    }
  };
  // The other modes still ask before the most dangerous calls; this one does not.
  const choose = (mode: Mode) => (mode === "bypass" ? setWarned(true) : set(mode));
  const why = reasonOf(live, info !== null, most);
  const capped = info?.maxMode !== undefined && rankOf(session.mode ?? "ask") > rankOf(info.maxMode);
  return (
    <Sheet title={t("chat.mode.permissions")} onClose={onClose}>
      {warned ? (
        <Warning busy={busy !== null} onConfirm={() => set("bypass")} onClose={() => setWarned(false)} />
      ) : (
        <ul className="-mx-2 flex flex-col gap-1">
          {modes.map(({ mode, name, text }) => (
            <li key={mode}>
              <button
                type="button"
                data-testid={`mode-${mode}`}
                aria-pressed={mode === session.mode}
                disabled={!live || busy !== null || most === null || rankOf(mode) > rankOf(most)}
                onClick={() => (mode === session.mode ? onClose() : choose(mode))}
                className="touchable flex w-full items-start gap-3 rounded-md px-3 py-2 text-left hover:bg-sunken disabled:cursor-not-allowed disabled:opacity-55 disabled:hover:bg-transparent"
              >
                <CheckIcon className={cx("mt-0.5 text-accent", mode !== session.mode && "invisible")} />
                <span className="min-w-0">
                  <span className={cx("block font-medium", mode === "bypass" && "text-danger")}>{name}</span>
                  <span className="block text-muted text-sm">{text}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {why ? <p className="mt-3 text-muted text-sm">{why}</p> : null}
      {capped ? (
        <p className="mt-3 text-muted text-sm">
          {t("chat.mode.promptsFromThisBrowserRun", { mode: nameOfMode(info.maxMode ?? "") })}
        </p>
      ) : null}
      <ErrorText className="mt-3">{error}</ErrorText>
      <SandboxState info={info} className="mt-5 border-line border-t pt-4" />
    </Sheet>
  );
}

/** Returns why some or all modes cannot be chosen here, and what to do. */
function reasonOf(live: boolean, known: boolean, most: Mode | null): string | null {
  if (!live || !known) {
    return t("chat.mode.theMachineIsNotReachable");
  }
  if (most === null) {
    return t("chat.mode.thisBrowserCannotChangePermissions");
  }
  if (most === "bypass") {
    return null;
  }
  return t("chat.mode.thisBrowserCanChooseUpTo", { mode: nameOfMode(most) });
}

function Warning({ busy, onConfirm, onClose }: { busy: boolean; onConfirm: () => void; onClose: () => void }) {
  return (
    <Notice
      tone="danger"
      role="alert"
      icon={<WarningIcon />}
      title={t("chat.mode.theAgentWillNoLonger")}
      actions={
        <>
          <Button onClick={onClose}>{t("chat.mode.cancel")}</Button>
          <Button tone="danger" data-testid="mode-bypass-confirm" busy={busy} onClick={onConfirm}>
            {t("chat.mode.runWithoutAsking")}
          </Button>
        </>
      }
    >
      {t("chat.mode.itCanDeleteFilesRun")}
    </Notice>
  );
}
