import { useRef, useState } from "react";
import { ApiError, type Host } from "../../api/contract";
import { ApiKind, type Provider, type Requests } from "../../api/types";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/machine";
import { EntryForm } from "../shared/EntryForm";
import { isRefusal } from "../shared/errors";
import { useAct } from "../shared/use-act";
import { addressOf, modelName, nameOf, type Preset, presets, protocols, replaced } from "./provider-draft";

export interface ProviderFormProps {
  host: Host;
  machine: string;
  /** null for a new one. */
  provider: Provider | null;
  /** The names of the providers and of the models of the machine. */
  taken: { providers: readonly string[]; models: readonly string[] };
  /** Called with the result, in words. */
  onDone: (what: string) => Promise<unknown>;
  onCancel: () => void;
}

/**
 * Adds a provider with its key and a first model, or changes the address of one. The host validates it. The key exists
 * only in the state of this form.
 */
export function ProviderForm({ host, machine, provider, taken, onDone, onCancel }: ProviderFormProps) {
  const [preset, setPreset] = useState<Preset | null>(provider ? null : (presets[0] as Preset));
  const [name, setName] = useState(() => provider?.name ?? nameOf(presets[0] ?? null, taken.providers));
  const [type, setType] = useState(provider?.type ?? presets[0]?.type ?? "");
  const [url, setUrl] = useState(provider?.baseUrl ?? "");
  const [key, setKey] = useState("");
  const [model, setModel] = useState("");
  // What a failed attempt has saved already is changed by the next one. Another name would leave it behind with its key.
  const [begun, setBegun] = useState(provider);
  // The name that an attempt without an answer may have saved.
  const unanswered = useRef<string | null>(null);
  const { busy, error, act } = useAct();
  const saveProvider = async (draft: Draft): Promise<Provider> => {
    try {
      return (await host.request("save_provider", draft)).provider;
    } catch (cause) {
      if (!isRefusal(cause)) {
        unanswered.current = draft.name;
      }
      const mine = !draft.version && unanswered.current === draft.name && isConflict(cause);
      const found = mine ? await findSaved(host, draft) : undefined;
      if (!found) {
        throw cause;
      }
      return found;
    }
  };
  const choose = (id: string) => {
    const next = presets.find((each) => each.id === id) ?? null;
    const nextType = next?.type ?? "openai";
    const nextUrl = replaced(url, preset?.url ?? "", next?.url ?? "");
    // The key was typed for the server that the form showed.
    if (addressOf(nextType, nextUrl) !== addressOf(type, url)) {
      setKey("");
    }
    setPreset(next);
    setType(nextType);
    setUrl(nextUrl);
    setName(replaced(name, nameOf(preset, taken.providers), nameOf(next, taken.providers)));
  };
  const save = () =>
    act("save", async () => {
      const version = begun?.version ? { version: begun.version } : {};
      const address = url.trim() ? { baseUrl: url.trim() } : {};
      const saved = await saveProvider({
        name: begun?.name ?? name.trim(),
        ...version,
        providerType: type,
        ...address,
      });
      setBegun(saved);
      if (key.trim()) {
        await host.request("set_provider_key", { provider: saved.name, key: key.trim() });
      }
      if (model.trim()) {
        const draft = { provider: saved.name, id: model.trim() };
        await host.request("save_model", { name: modelName(model, saved.name, taken.models), model: draft });
      }
      await onDone(t("machine.providerForm.saved", { name: saved.name, machine }));
    });
  return (
    <EntryForm
      testId="provider"
      isNew={begun === null}
      name={begun?.name ?? name}
      namePlaceholder="ollama"
      onName={setName}
      error={error}
      busy={busy !== null}
      ready={name.trim() !== "" && (preset !== null || provider !== null || url.trim() !== "")}
      onSave={save}
      onCancel={onCancel}
    >
      {begun ? null : (
        <Select
          label={t("machine.providerForm.preset")}
          value={preset?.id ?? ""}
          options={[
            ...presets.map(({ id, label }) => ({ value: id, label })),
            { value: "", label: t("machine.providerForm.other") },
          ]}
          data-testid="provider-preset"
          onChange={(e) => choose(e.target.value)}
        />
      )}
      <Select
        label={t("machine.providerForm.type")}
        value={type}
        options={protocols.map(({ value, label }) => ({ value, label }))}
        data-testid="provider-type"
        onChange={(e) => setType(e.target.value)}
      />
      <TextField
        label={t("machine.providerForm.address")}
        hint={provider ? t("machine.providerForm.addressChange") : t("machine.providerForm.addressHint", { machine })}
        mono
        type="url"
        value={url}
        placeholder={addressOf(type, "")}
        data-testid="provider-url"
        autoFocus={provider !== null}
        autoCapitalize="off"
        spellCheck={false}
        onChange={(e) => setUrl(e.target.value)}
      />
      {provider ? null : (
        <>
          <TextField
            label={t("machine.providerForm.key")}
            hint={t("machine.keyForm.keyHint", { machine })}
            type="password"
            mono
            value={key}
            data-testid="provider-key"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            data-1p-ignore=""
            data-lpignore="true"
            onChange={(e) => setKey(e.target.value)}
          />
          <TextField
            label={t("machine.providerForm.model")}
            hint={t("machine.providerForm.modelHint")}
            mono
            value={model}
            placeholder={preset?.model ?? ""}
            data-testid="provider-model"
            autoCapitalize="off"
            spellCheck={false}
            onChange={(e) => setModel(e.target.value)}
          />
        </>
      )}
    </EntryForm>
  );
}

type Draft = Requests["save_provider"]["request"];

function isConflict(cause: unknown): boolean {
  return cause instanceof ApiError && cause.kind === ApiKind.conflict;
}

/** Returns the saved provider that is what a draft asks for. */
async function findSaved(host: Host, { name, providerType, baseUrl = "" }: Draft): Promise<Provider | undefined> {
  const { providers } = await host.request("list_providers", {});
  return providers.find(
    (each) =>
      each.source === "models.json" &&
      each.name === name &&
      each.type === providerType &&
      (each.baseUrl ?? "") === baseUrl,
  );
}
