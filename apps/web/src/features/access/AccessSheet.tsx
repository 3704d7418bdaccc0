import { useState } from "react";
import type { Host } from "../../api/contract";
import type { Client } from "../../api/types";
import { Badge, Dot } from "../../components/Badge";
import { Button } from "../../components/Button";
import { ConfirmSheet } from "../../components/ConfirmSheet";
import { ErrorText } from "../../components/ErrorText";
import { Sheet } from "../../components/Sheet";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/access";
import { locale } from "../../i18n/i18n";
import { sentence } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";
import { useReadable, useScorel } from "../shared/scorel-context";
import { clock } from "../shared/time";

export interface AccessSheetProps {
  host: Host;
  /** The name of the machine. */
  machine: string;
  onClose: () => void;
}

/** Lists the browsers and terminals that can reach a machine, and revokes them. */
export function AccessSheet({ host, machine, onClose }: AccessSheetProps) {
  const me = useReadable(useScorel().me);
  const { data, error, refetch } = useHostQuery(host, "list_clients", {});
  const [revoking, setRevoking] = useState<Client | null>(null);
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
  return (
    <Sheet title={t("access.accessSheet.title")} onClose={onClose}>
      <p className="text-muted text-sm">{t("access.accessSheet.explanation", { label: machine })}</p>
      <ErrorText className="mt-3">{error ? sentence(error) : null}</ErrorText>
      {data || error ? null : <Skeleton label={t("access.accessSheet.loading")} rows={3} className="mt-3" />}
      {data?.clients.length === 0 ? <p className="mt-3 text-sm">{t("access.accessSheet.empty")}</p> : null}
      <ul className="mt-2 divide-y divide-line">
        {[...(data?.clients ?? [])].sort(byUse(me?.id)).map((client) => (
          <li key={client.id}>
            <ClientRow client={client} own={client.id === me?.id} onRevoke={() => setRevoking(client)} />
          </li>
        ))}
      </ul>
    </Sheet>
  );
}

/** This browser first, then those that are connected, then the latest. */
function byUse(own: string | undefined): (a: Client, b: Client) => number {
  const rank = (client: Client) => (client.id === own ? 0 : client.online ? 1 : 2);
  return (a, b) => rank(a) - rank(b) || b.pairedAt - a.pairedAt;
}

function ClientRow({ client, own, onRevoke }: { client: Client; own: boolean; onRevoke: () => void }) {
  return (
    <div data-testid="client" className="flex items-start gap-3 py-3">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <bdi className="min-w-0 font-medium [overflow-wrap:anywhere]">{client.label}</bdi>
          {own ? <Badge tone="accent">{t("access.accessSheet.thisBrowser")}</Badge> : null}
        </p>
        <p className="mt-0.5 text-muted text-sm">{mayDo(client.grants)}</p>
        <p className="mt-0.5 flex flex-wrap items-center gap-x-1.5 text-faint text-sm">
          <Dot tone={client.online ? "accent" : "neutral"} />
          {client.online ? t("access.accessSheet.connected") : t("access.accessSheet.notConnected")}
          <span aria-hidden="true">·</span>
          {t("access.accessSheet.pairedAgo", { time: clock(client.pairedAt) })}
        </p>
        <code className="mt-0.5 block break-all font-mono text-faint text-xs">{client.id}</code>
      </div>
      <Button
        aria-label={t("access.accessSheet.revokeName", { label: client.label })}
        data-testid="revoke-client"
        onClick={onRevoke}
      >
        {t("access.accessSheet.revoke")}
      </Button>
    </div>
  );
}

/** What a client may do, as a sentence. A grant of a newer host is named as it is. */
function mayDo(grants: readonly string[]): string {
  if (grants.length === 0) {
    return t("access.accessSheet.nothing");
  }
  const list = new Intl.ListFormat(locale(), { type: "conjunction" });
  return t("access.accessSheet.grants", { grants: list.format(grants.map(nameOf)) });
}

function nameOf(grant: string): string {
  switch (grant) {
    case "view":
      return t("access.grant.view");
    case "prompt":
      return t("access.grant.prompt");
    case "approve":
      return t("access.grant.approve");
    case "manage":
      return t("access.grant.manage");
    case "files":
      return t("access.grant.files");
    case "rules":
      return t("access.grant.rules");
    case "shell":
      return t("access.grant.shell");
    default:
      return grant;
  }
}
