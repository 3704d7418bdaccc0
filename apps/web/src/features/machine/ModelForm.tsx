import { useState } from "react";
import type { Host } from "../../api/contract";
import type { SavedModel } from "../../api/types";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/machine";
import { EntryForm } from "../shared/EntryForm";
import { useAct } from "../shared/use-act";
import { isAmount, type ModelFields, modelDraft, modelFields, modelName, modelReady } from "./provider-draft";

export interface ModelFormProps {
  host: Host;
  /** The name of its provider. */
  provider: string;
  /** null for a new one. */
  model: SavedModel | null;
  /** The names of the models of the machine. */
  taken: readonly string[];
  /** Called with the result, in words. */
  onDone: (what: string) => Promise<unknown>;
  onCancel: () => void;
}

/** Adds or edits a model. Without a name, a new one is named by its id. The host validates it. */
export function ModelForm({ host, provider, model, taken, onDone, onCancel }: ModelFormProps) {
  const [name, setName] = useState(model?.name ?? "");
  const [fields, setFields] = useState(() => modelFields(model?.model ?? null));
  const { busy, error, act } = useAct();
  const save = () =>
    act("save", async () => {
      const version = model ? { version: model.version } : {};
      const named = name.trim() || modelName(fields.id, provider, taken);
      await host.request("save_model", {
        name: named,
        ...version,
        model: modelDraft(provider, model?.model ?? null, fields),
      });
      await onDone(t("machine.modelForm.saved", { name: named }));
    });
  // The value of type="number" is empty for invalid text, and saving it would remove the earlier value.
  const number = (field: keyof ModelFields, label: string, testId: string, whole = false) => (
    <TextField
      label={label}
      error={isAmount(fields[field], whole) ? undefined : problemOf(whole)}
      inputMode={whole ? "numeric" : "decimal"}
      autoComplete="off"
      value={fields[field]}
      data-testid={testId}
      onChange={(e) => setFields((before) => ({ ...before, [field]: e.target.value }))}
    />
  );
  return (
    <EntryForm
      testId="model"
      isNew={model === null}
      name={name}
      namePlaceholder={fields.id.trim() ? modelName(fields.id, provider, taken) : ""}
      onName={setName}
      error={error}
      busy={busy !== null}
      ready={modelReady(fields)}
      onSave={save}
      onCancel={onCancel}
    >
      <TextField
        label={t("machine.modelForm.id")}
        hint={t("machine.providerForm.modelHint")}
        mono
        value={fields.id}
        data-testid="model-id"
        autoFocus={model !== null}
        autoCapitalize="off"
        spellCheck={false}
        onChange={(e) => setFields((before) => ({ ...before, id: e.target.value }))}
      />
      <Select
        label={t("machine.modelForm.images")}
        value={fields.images}
        options={[
          { value: "", label: t("machine.modelForm.imagesGuessed") },
          { value: "yes", label: t("machine.modelForm.imagesAccepted") },
          { value: "no", label: t("machine.modelForm.imagesRefused") },
        ]}
        data-testid="model-images"
        onChange={(e) => setFields((before) => ({ ...before, images: e.target.value as ModelFields["images"] }))}
      />
      {number("contextWindow", t("machine.modelForm.contextWindow"), "model-window", true)}
      <div className="grid gap-3 sm:grid-cols-2">
        {number("priceInput", t("machine.modelForm.priceInput"), "model-price-input")}
        {number("priceOutput", t("machine.modelForm.priceOutput"), "model-price-output")}
      </div>
    </EntryForm>
  );
}

function problemOf(whole: boolean): string {
  return whole ? t("machine.modelForm.enterWhole") : t("machine.modelForm.enterNumber");
}
