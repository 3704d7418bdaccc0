import { type FormEvent, useState } from "react";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/pair";
import { rich } from "../../i18n/rich";
import { useReadable, useScorel } from "../shared/scorel-context";

/** Shows under which name machines will know this browser, and changes it. */
export function BrowserName({ onChanged }: { onChanged: () => void }) {
  const me = useReadable(useScorel().me);
  const [editing, setEditing] = useState(false);
  if (!me) {
    return null;
  }
  if (editing) {
    return (
      <NameForm
        label={me.label}
        onDone={(changed) => {
          setEditing(false);
          if (changed) {
            onChanged();
          }
        }}
      />
    );
  }
  return (
    <p className="mt-6 text-muted text-sm">
      {rich((values) => t("pair.browserName.knownAs", values), {
        name: (
          <bdi className="font-medium text-ink" data-testid="browser-name">
            {me.label}
          </bdi>
        ),
      })}{" "}
      <button
        type="button"
        data-testid="browser-rename"
        className="touchable underline underline-offset-2 hover:text-ink"
        onClick={() => setEditing(true)}
      >
        {t("pair.browserName.rename")}
      </button>
    </p>
  );
}

function NameForm({ label, onDone }: { label: string; onDone: (changed: boolean) => void }) {
  const scorel = useScorel();
  const [name, setName] = useState(label);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const changed = name.trim() !== label;
    if (changed) {
      scorel.setLabel(name);
    }
    onDone(changed);
  };
  return (
    <form onSubmit={submit} className="mt-6" noValidate>
      <div className="flex items-end gap-2">
        <TextField
          className="min-w-0 flex-1"
          label={t("pair.browserName.name")}
          autoComplete="off"
          maxLength={64}
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
          data-testid="browser-name-input"
        />
        <Button type="submit" data-testid="browser-name-save">
          {t("pair.browserName.save")}
        </Button>
      </div>
      <p className="mt-1.5 text-muted text-sm">{t("pair.browserName.hint")}</p>
    </form>
  );
}
