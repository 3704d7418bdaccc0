import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Provider } from "../../api/types";
import { Dot, type Tone } from "../../components/Badge";
import { Button } from "../../components/Button";
import { t } from "../../i18n/machine";
import { KeyForm } from "./KeyForm";

export interface ProviderRowProps {
  provider: Provider;
  machine: string;
  /** Whether this browser may save keys. */
  maySave: boolean;
  onSave: (key: string) => Promise<void>;
  onRemove: () => void;
  /** Its models and what can be changed, in place of a list of their names. */
  children?: ReactNode;
}

/** A provider: its address, its models, and the source of its key. */
export function ProviderRow({ provider, machine, maySave, onSave, onRemove, children }: ProviderRowProps) {
  const [editing, setEditing] = useState(false);
  const [saved, setSaved] = useState(false);
  const { name, models, keyName, keySource } = provider;
  const key = keyOf(provider);
  // A key in the environment overrides a saved one, and only the host can change it.
  const editable = keyName !== undefined && keySource !== "environment";
  const hasSaved = keySource === "system" || keySource === "file" || provider.problem !== undefined;
  return (
    <div data-testid="provider" className="py-3">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <bdi className="min-w-0 font-medium text-sm [overflow-wrap:anywhere]">{name}</bdi>
        <span className="min-w-0 break-all font-mono text-faint text-xs">{provider.address ?? provider.type}</span>
      </p>
      {children ? null : (
        <p className="mt-0.5 text-muted text-sm [overflow-wrap:anywhere]">
          {t("machine.providerRow.models", { count: models.length, models: models.join(", ") })}
        </p>
      )}
      <p className="mt-0.5 flex items-baseline gap-x-1.5 text-sm">
        <Dot tone={key.tone} />
        <span data-testid="key-state" className={key.tone === "warn" ? "text-warn" : "text-muted"}>
          {key.text}
        </span>
      </p>
      {provider.problem ? <p className="mt-0.5 text-sm text-warn">{provider.problem}</p> : null}
      <p role="status" className="text-accent text-sm">
        {saved ? t("machine.providerRow.saved", { machine }) : null}
      </p>
      {editing ? (
        <KeyForm
          name={name}
          machine={machine}
          onSave={async (value) => {
            await onSave(value);
            setSaved(true);
            setEditing(false);
          }}
          onCancel={() => setEditing(false)}
        />
      ) : editable ? (
        <Actions
          name={name}
          hasSaved={hasSaved}
          maySave={maySave}
          onEdit={() => {
            setSaved(false);
            setEditing(true);
          }}
          onRemove={onRemove}
        />
      ) : null}
      {children}
    </div>
  );
}

interface ActionsProps {
  name: string;
  hasSaved: boolean;
  maySave: boolean;
  onEdit: () => void;
  onRemove: () => void;
}

function Actions({ name, hasSaved, maySave, onEdit, onRemove }: ActionsProps) {
  const edit = useRef<HTMLButtonElement>(null);
  // The form that was here had the focus: nothing else in a dialog leaves it on the page.
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement === edit.current?.closest("dialog")) {
      edit.current?.focus();
    }
  }, []);
  if (!maySave && !hasSaved) {
    return null;
  }
  return (
    <div className="-ml-3.5 mt-1 flex flex-wrap gap-x-1">
      {maySave ? (
        <Button
          ref={edit}
          tone="quiet"
          aria-label={
            hasSaved ? t("machine.providerRow.replaceKeyFor", { name }) : t("machine.providerRow.setKeyFor", { name })
          }
          data-testid="set-key"
          onClick={onEdit}
        >
          {hasSaved ? t("machine.providerRow.replaceKey") : t("machine.providerRow.setKey")}
        </Button>
      ) : null}
      {hasSaved ? (
        <Button
          tone="quiet"
          aria-label={t("machine.providerRow.removeKeyFor", { name })}
          data-testid="remove-key"
          onClick={onRemove}
        >
          {t("machine.providerRow.removeKey")}
        </Button>
      ) : null}
    </div>
  );
}

function keyOf({ keyName, keySource, source }: Provider): { tone: Tone; text: string } {
  if (keyName === undefined) {
    return { tone: "neutral", text: t("machine.providerRow.noKeyNeeded") };
  }
  switch (keySource) {
    case undefined:
      // One that was added here may need none.
      return { tone: source === "models.json" ? "neutral" : "warn", text: t("machine.providerRow.noKey") };
    case "environment":
      return { tone: "accent", text: t("machine.providerRow.fromEnvironment", { variable: keyName }) };
    case "file":
      return { tone: "accent", text: t("machine.providerRow.fromFile") };
    default:
      return { tone: "accent", text: t("machine.providerRow.fromSystem") };
  }
}
