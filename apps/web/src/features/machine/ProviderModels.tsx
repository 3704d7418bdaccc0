import { useState } from "react";
import type { Host } from "../../api/contract";
import type { Provider, Requests } from "../../api/types";
import { Button } from "../../components/Button";
import { PlusIcon } from "../../components/icons";
import { t } from "../../i18n/machine";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { useLostFocus } from "../shared/lost-focus";
import { ModelForm } from "./ModelForm";
import { ModelRow } from "./ModelRow";
import type { ProviderFormProps } from "./ProviderForm";
import { ProviderForm } from "./ProviderForm";

export interface ProviderModelsProps extends Pick<ProviderFormProps, "host" | "machine" | "taken" | "onDone"> {
  provider: Provider;
  list: Requests["list_providers"]["response"];
}

/** The models of a provider, and what can be changed of them and of the provider. */
export function ProviderModels({ host, machine, provider, list, taken, onDone }: ProviderModelsProps) {
  // The name of the model that is edited, "" for a new one; the provider itself; or nothing.
  const [open, setOpen] = useState<{ model: string } | "provider" | null>(null);
  const saved = (list.savedModels ?? []).filter(({ model }) => model.provider === provider.name);
  const names = [...new Set([...provider.models, ...saved.map(({ name }) => name)])].sort();
  const close = () => setOpen(null);
  const done = async (what: string) => {
    close();
    await onDone(what);
  };
  const form = (name: string) => (
    <ModelForm
      host={host}
      provider={provider.name}
      model={saved.find((each) => each.name === name) ?? null}
      taken={taken.models}
      onDone={done}
      onCancel={close}
    />
  );
  return (
    <>
      <ul className="mt-2 divide-y divide-line rounded-lg border border-line empty:hidden">
        {names.map((name) =>
          typeof open === "object" && open?.model === name ? (
            <li key={name} className="p-2">
              {form(name)}
            </li>
          ) : (
            <ModelRow
              key={name}
              host={host}
              name={name}
              saved={saved.find((each) => each.name === name) ?? null}
              isDefault={list.defaultModel === name}
              mayChoose={list.defaultSource !== "config.toml"}
              onEdit={() => setOpen({ model: name })}
              onDone={onDone}
            />
          ),
        )}
      </ul>
      {open === "provider" ? (
        <ProviderForm host={host} machine={machine} provider={provider} taken={taken} onDone={done} onCancel={close} />
      ) : typeof open === "object" && open?.model === "" ? (
        form("")
      ) : (
        <Actions
          host={host}
          provider={provider}
          onAdd={() => setOpen({ model: "" })}
          onEdit={() => setOpen("provider")}
          onDone={onDone}
        />
      )}
    </>
  );
}

interface ActionsProps {
  host: Host;
  provider: Provider;
  onAdd: () => void;
  onEdit: () => void;
  onDone: (what: string) => Promise<unknown>;
}

function Actions({ host, provider: { name, version }, onAdd, onEdit, onDone }: ActionsProps) {
  const [removing, setRemoving] = useState(false);
  const first = useLostFocus<HTMLButtonElement>();
  return (
    <div className="-ml-3.5 mt-1 flex flex-wrap gap-x-1">
      <Button
        ref={first}
        tone="quiet"
        data-testid="add-model"
        aria-label={t("machine.savedProvider.addModelTo", { name })}
        onClick={onAdd}
      >
        <PlusIcon /> {t("machine.savedProvider.addModel")}
      </Button>
      {version ? (
        <>
          <Button
            tone="quiet"
            data-testid="provider-edit"
            aria-label={t("machine.savedProvider.editNamed", { name })}
            onClick={onEdit}
          >
            {t("machine.savedProvider.editThis")}
          </Button>
          <Button
            tone="quiet"
            data-testid="provider-remove"
            aria-label={t("machine.savedProvider.removeNamed", { name })}
            onClick={() => setRemoving(true)}
          >
            {t("machine.savedProvider.removeThis")}
          </Button>
        </>
      ) : null}
      {removing && version ? (
        <ConfirmSheet
          title={t("machine.savedProvider.removeTitle", { name })}
          confirm={t("machine.savedProvider.remove")}
          onConfirm={async () => {
            await host.request("remove_provider", { name, version });
            await onDone(t("machine.savedProvider.removed", { name }));
          }}
          onClose={() => setRemoving(false)}
        >
          {t("machine.savedProvider.removeExplained")}
        </ConfirmSheet>
      ) : null}
    </div>
  );
}
