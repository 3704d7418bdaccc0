import { type FormEvent, useState } from "react";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/machine";
import { useAct } from "../shared/use-act";

export interface KeyFormProps {
  /** The name of the provider. */
  name: string;
  machine: string;
  onSave: (key: string) => Promise<void>;
  onCancel: () => void;
}

/**
 * Takes a key and passes it on once. The key exists only in the state of this form, which ends with it, and in no
 * draft, copy or address.
 */
export function KeyForm({ name, machine, onSave, onCancel }: KeyFormProps) {
  const [key, setKey] = useState("");
  const { busy, error, act } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void act("save", () => onSave(key.trim()));
  };
  return (
    <form onSubmit={submit} noValidate autoComplete="off" className="mt-2">
      <TextField
        label={t("machine.keyForm.key", { name })}
        hint={t("machine.keyForm.keyHint", { machine })}
        type="password"
        mono
        value={key}
        error={error}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        autoFocus
        data-testid="key-input"
        data-1p-ignore=""
        data-lpignore="true"
        onChange={(event) => setKey(event.target.value)}
      />
      <div className="mt-2 flex gap-2">
        <Button type="submit" tone="primary" busy={busy !== null} disabled={key.trim() === ""} data-testid="save-key">
          {t("machine.keyForm.save")}
        </Button>
        <Button tone="quiet" onClick={onCancel}>
          {t("machine.keyForm.cancel")}
        </Button>
      </div>
    </form>
  );
}
