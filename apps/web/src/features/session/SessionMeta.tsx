import { type FormEvent, useState } from "react";
import type { Host } from "../../api/contract";
import type { SessionSummary } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { CloseIcon, PlusIcon } from "../../components/icons";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/session";
import { useAct } from "../shared/use-act";
import { useUpdateSession } from "./use-update-session";

/** The keys and values that people or programs have set on a session. */
export function SessionMeta(props: { host: Host; session: SessionSummary; mayChange: boolean }) {
  const { host, session, mayChange } = props;
  const [adding, setAdding] = useState(false);
  const update = useUpdateSession(host, session.id);
  const { busy, error, act } = useAct();
  const pairs = Object.entries(session.meta ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (pairs.length === 0 && !mayChange) {
    return null;
  }
  return (
    <section
      aria-label={t("session.sessionMeta.metadata")}
      data-testid="session-meta"
      className="mt-5 border-line border-t pt-4 text-sm"
    >
      <h3 className="font-medium">{t("session.sessionMeta.metadata")}</h3>
      <dl>
        {pairs.map(([key, value]) => (
          <div key={key} className="flex min-h-11 items-center gap-3 py-0.5">
            <dt className="max-w-[40%] shrink-0 break-words font-mono text-muted text-xs">{key}</dt>
            <dd dir="auto" className="min-w-0 flex-1 break-words [overflow-wrap:anywhere]">
              {value}
            </dd>
            {mayChange ? (
              <dd>
                <IconButton
                  label={t("session.sessionMeta.remove", { key })}
                  disabled={busy !== null}
                  onClick={() => act(key, () => update({ meta: { [key]: "" } }))}
                >
                  <CloseIcon />
                </IconButton>
              </dd>
            ) : null}
          </div>
        ))}
      </dl>
      <ErrorText className="mt-1">{error}</ErrorText>
      {adding ? (
        <MetaForm
          onSave={async (key, value) => void (await update({ meta: { [key]: value } }))}
          onClose={() => setAdding(false)}
        />
      ) : mayChange ? (
        <Button data-testid="add-meta" className="mt-2" onClick={() => setAdding(true)}>
          <PlusIcon /> {t("session.sessionMeta.addMetadata")}
        </Button>
      ) : null}
    </section>
  );
}

interface MetaFormProps {
  onSave: (key: string, value: string) => Promise<void>;
  onClose: () => void;
}

function MetaForm({ onSave, onClose }: MetaFormProps) {
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const { busy, error, act } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void act("save", async () => {
      await onSave(key.trim(), value.trim());
      onClose();
    });
  };
  return (
    <form onSubmit={submit} noValidate className="mt-2">
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label={t("session.sessionMeta.key")}
          mono
          value={key}
          autoCapitalize="off"
          autoComplete="off"
          placeholder={t("session.sessionMeta.ticket")}
          onChange={(event) => setKey(event.target.value)}
        />
        <TextField
          label={t("session.sessionMeta.value")}
          value={value}
          autoComplete="off"
          placeholder={t("session.sessionMeta.ops12")}
          onChange={(event) => setValue(event.target.value)}
        />
      </div>
      <ErrorText className="mt-2">{error}</ErrorText>
      <div className="mt-3 flex justify-end gap-2">
        <Button onClick={onClose}>{t("session.sessionMeta.cancel")}</Button>
        <Button type="submit" tone="primary" busy={busy !== null} disabled={!key.trim() || !value.trim()}>
          {t("session.sessionMeta.add")}
        </Button>
      </div>
    </form>
  );
}
