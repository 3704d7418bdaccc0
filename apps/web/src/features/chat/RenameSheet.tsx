import { type FormEvent, useState } from "react";
import type { Host } from "../../api/contract";
import { MAX_NAME, type SessionSummary } from "../../api/types";
import { Button } from "../../components/Button";
import { Sheet } from "../../components/Sheet";
import { TextField } from "../../components/TextField";
import { sentence } from "../shared/errors";

export function RenameSheet({ host, session, onClose }: { host: Host; session: SessionSummary; onClose: () => void }) {
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
    <Sheet title="Rename the session" onClose={onClose}>
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
    </Sheet>
  );
}
