import { type FormEvent, useState } from "react";
import { Button } from "../../components/Button";
import { CopyButton } from "../../components/CopyButton";
import { Sheet } from "../../components/Sheet";
import { TextField } from "../../components/TextField";
import { sentence } from "../shared/errors";
import { useReadable, useScorel } from "../shared/scorel-context";

export interface SettingsSheetProps {
  onClose: () => void;
  /** Leads to the page that looks at the connection: the sheet stands outside of the router. */
  onCheck: () => void;
}

export function SettingsSheet({ onClose, onCheck }: SettingsSheetProps) {
  const scorel = useScorel();
  const me = useReadable(scorel.me);
  return (
    <Sheet title="Settings" onClose={onClose}>
      <RelayForm onDone={onClose} />
      <section className="mt-6 border-line border-t pt-4">
        <h3 className="font-medium text-sm">Connection</h3>
        <p className="mt-1 text-muted text-sm">Looks at the way to each machine, step by step.</p>
        <Button data-testid="settings-connection" className="mt-2" onClick={onCheck}>
          Check the connection
        </Button>
      </section>
      <section className="mt-6 border-line border-t pt-4">
        <h3 className="font-medium text-sm">This browser</h3>
        {me ? (
          <>
            <p className="mt-1 text-muted text-sm">{me.label}</p>
            <div className="flex items-center gap-1">
              <code className="min-w-0 flex-1 break-all font-mono text-faint text-xs">{me.id}</code>
              <CopyButton text={me.id} label="Copy the id" />
            </div>
            <p className="mt-1 text-muted text-sm">
              Its keys were made here and cannot be taken out of this browser. To shut it out, remove it on the machine.
            </p>
          </>
        ) : (
          <p className="mt-1 text-muted text-sm">Its keys are being made.</p>
        )}
      </section>
    </Sheet>
  );
}

function RelayForm({ onDone }: { onDone: () => void }) {
  const scorel = useScorel();
  const current = useReadable(scorel.relayUrl);
  const [url, setUrl] = useState(current);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await scorel.setRelayUrl(url.trim());
      onDone();
    } catch (cause) {
      setError(sentence(cause));
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit} noValidate>
      <TextField
        label="Relay address"
        mono
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        value={url}
        onChange={(event) => setUrl(event.target.value)}
        error={error}
        hint="Where your machines can be found: the address that their relay is reached at."
      />
      <Button type="submit" tone="primary" className="mt-3" busy={busy} disabled={url.trim() === current}>
        Use this relay
      </Button>
    </form>
  );
}
