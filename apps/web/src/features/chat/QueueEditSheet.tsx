import { useState } from "react";
import { Button } from "../../components/Button";
import { Sheet } from "../../components/Sheet";
import { sentence } from "../shared/errors";

export interface QueueEditSheetProps {
  text: string;
  onSave: (text: string) => Promise<void>;
  onClose: () => void;
}

/** Changes the text of a prompt that waits. */
export function QueueEditSheet({ text, onSave, onClose }: QueueEditSheetProps) {
  const [draft, setDraft] = useState(text);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      await onSave(draft.trim());
      onClose();
    } catch (cause) {
      setError(sentence(cause));
      setBusy(false);
    }
  };
  return (
    <Sheet
      title="Change a message that waits"
      onClose={onClose}
      footer={
        <Button tone="primary" busy={busy} disabled={draft.trim() === ""} onClick={save}>
          Save
        </Button>
      }
    >
      <textarea
        aria-label="Message"
        value={draft}
        rows={6}
        onChange={(event) => setDraft(event.target.value)}
        className="block w-full rounded-md border border-line-strong bg-surface px-3 py-2 text-base outline-none focus:border-accent"
      />
      {error ? (
        <p role="alert" className="mt-2 text-danger text-sm">
          {error}
        </p>
      ) : null}
    </Sheet>
  );
}
