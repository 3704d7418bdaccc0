import { lazy, useState } from "react";
import { cx } from "../../../components/cx";
import { ChevronDownIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { LazyPart } from "../../shared/MissingPart";
import { chunk } from "../../shared/missing-chunk";
import { nameOfMode, type SessionModeProps } from "../../shared/modes";

const ModeSheet = lazy(chunk(() => import("./ModeSheet")));

/** What the agent may do without asking, and the menu to change it. Renders nothing for a host without modes. */
export function SessionMode({ host, info, session, live }: SessionModeProps) {
  const [open, setOpen] = useState(false);
  const { mode } = session;
  if (!mode) {
    return null;
  }
  return (
    <>
      <button
        type="button"
        data-testid="session-mode"
        data-mode={mode}
        aria-haspopup="dialog"
        title={t("chat.mode.whatTheAgentMayDo")}
        onClick={() => setOpen(true)}
        className="touchable inline-flex shrink-0 items-center gap-1 rounded-md px-2 text-faint text-xs hover:bg-sunken hover:text-ink"
      >
        <span className="max-sm:sr-only">{t("chat.mode.permissionsLabel")}</span>{" "}
        <span className={cx("font-medium", mode === "bypass" ? "text-danger" : "text-muted")}>{nameOfMode(mode)}</span>
        <ChevronDownIcon />
      </button>
      <LazyPart onClose={() => setOpen(false)}>
        {open ? (
          <ModeSheet host={host} info={info} session={session} live={live} onClose={() => setOpen(false)} />
        ) : null}
      </LazyPart>
    </>
  );
}
