import { lazy, useState } from "react";
import type { Host, SessionView } from "../../api/contract";
import type { HostInfo, SessionSummary } from "../../api/types";
import { IconButton } from "../../components/Button";
import { MoreIcon } from "../../components/icons";
import { t } from "../../i18n/session";
import { may } from "../shared/grants";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";

const SessionSheet = lazy(chunk(() => import("./SessionSheet")));
const DeleteSession = lazy(chunk(() => import("./DeleteSession")));
const ShareSession = lazy(chunk(() => import("../guests/ShareSession")));
const MoveSession = lazy(chunk(() => import("../move/MoveSession")));

export interface SessionMenuProps {
  host: Host;
  /** null until the host has sent it. */
  info: HostInfo | null;
  session: SessionSummary;
  /** The shown session; absent in a list. */
  view?: SessionView | undefined;
  /** The name for screen readers, also shown as a tooltip. */
  label?: string;
  /** Opens the session's changes, if the page has no button for it. */
  onChanges?: (() => void) | undefined;
}

/** The button that opens a session's details and actions. */
export function SessionMenu({
  host,
  info,
  session,
  view,
  label = t("session.sessionMenu.sessionDetails"),
  onChanges,
}: SessionMenuProps) {
  const [open, setOpen] = useState<"session" | "delete" | "move" | "share" | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <IconButton label={label} data-testid="session-menu" onClick={() => setOpen("session")}>
        <MoreIcon />
      </IconButton>
      <LazyPart onClose={close}>
        {open === "session" ? (
          <SessionSheet
            host={host}
            session={session}
            mayChange={may(info, "prompt")}
            onChanges={onChanges}
            onDelete={may(info, "manage") ? () => setOpen("delete") : null}
            onMove={may(info, "manage") ? () => setOpen("move") : null}
            onShare={may(info, "manage") ? () => setOpen("share") : null}
            onClose={close}
          />
        ) : null}
        {open === "share" ? <ShareSession host={host} info={info} session={session} onClose={close} /> : null}
        {open === "move" ? <MoveSession host={host} session={session} onClose={close} /> : null}
        {open === "delete" ? <DeleteSession host={host} session={session} view={view} onClose={close} /> : null}
      </LazyPart>
    </>
  );
}
