import { useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type HostInfo, type Provider, type Requests } from "../../api/types";
import { ErrorText } from "../../components/ErrorText";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/machine";
import { AddButton } from "../shared/AddButton";
import { isRefusal } from "../shared/errors";
import { may, mayManageAll } from "../shared/grants";
import { useHostQuery } from "../shared/host-queries";
import { withHelp } from "../shared/with-help";
import { ModelRow } from "./ModelRow";
import { ProviderForm } from "./ProviderForm";
import { ProviderModels } from "./ProviderModels";
import { ProviderRow } from "./ProviderRow";

export interface ProviderListProps {
  host: Host;
  machine: string;
  info: HostInfo | null;
  onRemove: (provider: Provider) => void;
}

/**
 * The model providers of a machine: their models, and the source of their keys. The keys themselves are never shown.
 */
export function ProviderList({ host, machine, info, onRemove }: ProviderListProps) {
  return (
    <section aria-label={t("machine.machineSheet.models")}>
      <h3 className="font-medium text-sm">{t("machine.machineSheet.models")}</h3>
      {mayManageAll(info) ? (
        <Providers host={host} machine={machine} info={info} onRemove={onRemove} />
      ) : (
        <p className="mt-1 text-muted text-sm">{t("machine.providerList.noManage", { machine })}</p>
      )}
    </section>
  );
}

function Providers({ host, machine, info, onRemove }: ProviderListProps) {
  const { data, error, refetch } = useHostQuery(host, "list_providers", {});
  const [adding, setAdding] = useState(false);
  const [done, setDone] = useState<string | null>(null);
  const said = async (what: string) => {
    await refetch();
    setDone(what);
  };
  const save = async (provider: string, key: string) => {
    await host.request("set_provider_key", { provider, key });
    await refetch();
  };
  if (!data) {
    if (!error) {
      return <Skeleton label={t("machine.providerList.loading")} rows={4} className="mt-3" />;
    }
    return (
      <ErrorText className="mt-2">
        {isRefusal(error) && error.kind === ApiKind.unknown_request
          ? t("machine.providerList.noProviders", { machine })
          : withHelp(error)}
      </ErrorText>
    );
  }
  // An older host changes nothing but keys.
  const editable = data.defaultModel !== undefined && may(info, "approve");
  const taken = {
    providers: data.providers.map(({ name }) => name),
    models: [...data.providers.flatMap(({ models }) => models), ...(data.savedModels ?? []).map(({ name }) => name)],
  };
  return (
    <>
      <p className="mt-1 text-muted text-sm">
        {info?.models.every((model) => model.demo)
          ? t("machine.providerList.onlyDemo")
          : editable
            ? t("machine.providerList.changeable", { machine })
            : t("machine.providerList.explanation", { machine })}
      </p>
      {data.providers.length === 0 ? <p className="mt-2 text-sm">{t("machine.providerList.empty")}</p> : null}
      <ul className="mt-2 divide-y divide-line">
        {data.providers.map((provider) => (
          <li key={provider.name}>
            <ProviderRow
              provider={provider}
              machine={machine}
              maySave={may(info, "approve")}
              onSave={(key) => save(provider.name, key)}
              onRemove={() => onRemove(provider)}
            >
              {editable ? (
                <ProviderModels
                  host={host}
                  machine={machine}
                  provider={provider}
                  list={data}
                  taken={taken}
                  onDone={said}
                />
              ) : null}
            </ProviderRow>
          </li>
        ))}
      </ul>
      {editable ? <Orphans host={host} list={data} onDone={said} /> : null}
      {!editable ? null : adding ? (
        <ProviderForm
          host={host}
          machine={machine}
          provider={null}
          taken={taken}
          onDone={async (what) => {
            await said(what);
            setAdding(false);
          }}
          onCancel={() => setAdding(false)}
        />
      ) : (
        <AddButton
          data-testid="add-provider"
          onClick={() => {
            setDone(null);
            setAdding(true);
          }}
        >
          {t("machine.providerList.add")}
        </AddButton>
      )}
      <p role="status" className="mt-2 break-words text-accent text-sm empty:mt-0">
        {done}
      </p>
    </>
  );
}

interface OrphansProps {
  host: Host;
  list: Requests["list_providers"]["response"];
  onDone: (what: string) => Promise<unknown>;
}

/** The saved models without a provider: they can only be removed, and their names are taken until then. */
function Orphans({ host, list, onDone }: OrphansProps) {
  const orphans = (list.savedModels ?? []).filter(
    ({ model }) => !list.providers.some(({ name }) => name === model.provider),
  );
  return (
    <ul className="mt-2 divide-y divide-line rounded-lg border border-line empty:hidden">
      {orphans.map((saved) => (
        <ModelRow
          key={saved.name}
          host={host}
          name={saved.name}
          saved={saved}
          isDefault={list.defaultModel === saved.name}
          mayChoose={false}
          onDone={onDone}
        />
      ))}
    </ul>
  );
}
