import { useState } from "react";
import type { Host } from "../../api/contract";
import type { Client } from "../../api/types";
import { ErrorText } from "../../components/ErrorText";
import { Sheet } from "../../components/Sheet";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/access";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { useHostQuery } from "../shared/host-queries";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useNow } from "../shared/time";
import { withHelp } from "../shared/with-help";
import { ClientAccess } from "./ClientAccess";
import { ClientRow } from "./ClientRow";

export interface AccessSheetProps {
  host: Host;
  /** The name of the machine. */
  machine: string;
  onClose: () => void;
}

/** Lists the browsers and terminals that can reach a machine, limits, renames and revokes them. */
export function AccessSheet({ host, machine, onClose }: AccessSheetProps) {
  const me = useReadable(useScorel().me);
  const { data, error, refetch } = useHostQuery(host, "list_clients", {});
  const projects = useHostQuery(host, "list_projects", {}).data?.projects;
  const info = useHostQuery(host, "get_host", {}).data?.host ?? null;
  const [revoking, setRevoking] = useState<Client | null>(null);
  const [changing, setChanging] = useState<string | null>(null);
  const now = useNow(60_000);
  const rename = async ({ id: clientId }: Client, label: string) => {
    await host.request("rename_client", { clientId, label });
    await refetch();
  };
  if (revoking) {
    const own = revoking.id === me?.id;
    return (
      <ConfirmSheet
        title={t("access.accessSheet.revokeTitle", { label: revoking.label })}
        confirm={t("access.accessSheet.revoke")}
        onConfirm={async () => {
          await host.request("revoke_client", { clientId: revoking.id });
          if (!own) {
            await refetch();
          }
        }}
        onClose={() => setRevoking(null)}
      >
        {own
          ? t("access.accessSheet.revokeSelfExplained", { machine })
          : t("access.accessSheet.revokeExplained", { machine })}
      </ConfirmSheet>
    );
  }
  const changed = data?.clients.find(({ id }) => id === changing);
  if (changed) {
    return (
      <ClientAccess
        host={host}
        client={changed}
        own={changed.id === me?.id}
        info={info}
        onChanged={refetch}
        onBack={() => setChanging(null)}
      />
    );
  }
  return (
    <Sheet title={t("access.accessSheet.title")} onClose={onClose}>
      <p className="text-muted text-sm">{t("access.accessSheet.explanation", { label: machine })}</p>
      <ErrorText className="mt-3">{error ? withHelp(error) : null}</ErrorText>
      {data || error ? null : <Skeleton label={t("access.accessSheet.loading")} rows={3} className="mt-3" />}
      {data?.clients.length === 0 ? <p className="mt-3 text-sm">{t("access.accessSheet.empty")}</p> : null}
      <ul className="mt-2 divide-y divide-line">
        {[...(data?.clients ?? [])].sort(byUse(me?.id)).map((client) => (
          <li key={client.id}>
            <ClientRow
              client={client}
              own={client.id === me?.id}
              now={now}
              onRename={(label) => rename(client, label)}
              projects={projects}
              onAccess={() => setChanging(client.id)}
              onRevoke={() => setRevoking(client)}
            />
          </li>
        ))}
      </ul>
    </Sheet>
  );
}

/** Orders clients: this browser first, then connected ones, then the most recently seen. */
function byUse(own: string | undefined): (a: Client, b: Client) => number {
  const rank = (client: Client) => (client.id === own ? 0 : client.online ? 1 : 2);
  return (a, b) => rank(a) - rank(b) || (b.lastSeen ?? b.pairedAt) - (a.lastSeen ?? a.pairedAt);
}
