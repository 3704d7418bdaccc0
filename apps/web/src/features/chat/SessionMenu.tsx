import { useState } from "react";
import type { Host, SessionView } from "../../api/contract";
import type { SessionSummary } from "../../api/types";
import { IconButton } from "../../components/Button";
import { MoreIcon } from "../../components/icons";
import { DeleteSession } from "./DeleteSession";
import { SessionSheet } from "./SessionSheet";

export interface SessionMenuProps {
  host: Host;
  session: SessionSummary;
  view: SessionView | undefined;
  mayDelete: boolean;
}

/** The button for what can be done with the session as a whole, and its sheets. */
export function SessionMenu({ host, session, view, mayDelete }: SessionMenuProps) {
  const [open, setOpen] = useState<"session" | "delete" | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <IconButton label="Rename or delete the session" data-testid="session-menu" onClick={() => setOpen("session")}>
        <MoreIcon />
      </IconButton>
      {open === "session" ? (
        <SessionSheet
          host={host}
          session={session}
          onDelete={mayDelete ? () => setOpen("delete") : null}
          onClose={close}
        />
      ) : null}
      {open === "delete" ? <DeleteSession host={host} session={session} view={view} onClose={close} /> : null}
    </>
  );
}
