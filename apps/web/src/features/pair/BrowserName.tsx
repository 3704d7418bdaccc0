import { type FormEvent, useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/pair";
import { rich } from "../../i18n/rich";
import { useReadable, useScorel } from "../shared/scorel-context";

/** A field for the name of this browser on machines. The name takes effect when the field is left. */
export function BrowserName({ onChanged = () => {} }: { onChanged?: (() => void) | undefined }) {
  const me = useReadable(useScorel().me);
  return me ? <NameForm label={me.label} onChanged={onChanged} /> : null;
}

function NameForm({ label, onChanged }: { label: string; onChanged: () => void }) {
  const scorel = useScorel();
  const [name, setName] = useState(label);
  const [saved, setSaved] = useState(false);
  useEffect(() => setName(label), [label]);
  const save = () => {
    if (name.trim() !== label) {
      scorel.setLabel(name);
      setSaved(true);
      onChanged();
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save();
  };
  return (
    <form onSubmit={submit} className="mt-6" noValidate>
      <div className="flex items-end gap-2">
        <TextField
          className="min-w-0 flex-1"
          label={t("pair.browserName.name")}
          autoComplete="off"
          maxLength={64}
          value={name}
          onChange={(event) => {
            setName(event.target.value);
            setSaved(false);
          }}
          onBlur={save}
          data-testid="browser-name-input"
        />
        <Button type="submit" data-testid="browser-name-save">
          {t("pair.browserName.save")}
        </Button>
      </div>
      <p role="status" className="mt-1.5 text-muted text-sm">
        {saved
          ? rich((values) => t("pair.browserName.knownAs", values), {
              name: (
                <bdi className="font-medium text-ink" data-testid="browser-name">
                  {label}
                </bdi>
              ),
            })
          : t("pair.browserName.hint")}
      </p>
    </form>
  );
}
