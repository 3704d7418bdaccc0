import { type FormEvent, useState } from "react";
import type { Host } from "../../api/contract";
import { MAX_NAME, type SessionSummary } from "../../api/types";
import { Button } from "../../components/Button";
import { TrashIcon } from "../../components/icons";
import { Sheet } from "../../components/Sheet";
import { TextField } from "../../components/TextField";
import { sentence } from "../shared/errors";
import { SessionSpent } from "./SessionSpent";

export interface SessionSheetProps {
  host: Host;
  session: SessionSummary;
  /** Asks whether to delete it; null where this browser may not. */
  onDelete: (() => void) | null;
  onClose: () => void;
}

/** What can be done with a session as a whole. */
export function SessionSheet({ host, session, onDelete, onClose }: SessionSheetProps) {
  const [name, setName] = useState(session.name);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const trimmed = name.trim();
    if (trimmed === "") return setError("Type a name.");
    if (new TextEncoder().encode(trimmed).length > MAX_NAME) return setError("That name is too long; shorten it.");
    setBusy(true);
    try {
      await host.request("rename_session", { sessionId: session.id, name: trimmed });
      onClose();
    } catch (cause) {
      setError(sentence(cause));
      setBusy(false);
    }
  };
  return (
    <Sheet title="The session" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <TextField
          label="Name"
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={error}
          autoComplete="off"
        />
        <Button type="submit" tone="primary" busy={busy} className="mt-3">
          Rename
        </Button>
      </form>
      <SessionSpent session={session} />
      <div className="mt-5 border-line border-t pt-4">
        <Button data-testid="delete-session" tone="danger" disabled={onDelete === null} onClick={onDelete ?? undefined}>
          <TrashIcon /> Delete the session
        </Button>
        {onDelete ? null : (
          <p className="mt-1.5 text-muted text-sm">
            This browser may not delete sessions. Delete it on the machine itself.
          </p>
        )}
      </div>
    </Sheet>
  );
}
