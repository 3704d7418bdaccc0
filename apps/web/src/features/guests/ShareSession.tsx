import { useState } from "react";
import type { Host } from "../../api/contract";
import type { Client, HostInfo, SessionSummary } from "../../api/types";
import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/guests";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { useHostQuery } from "../shared/host-queries";
import { GuestLinks } from "./GuestLinks";
import { NewLink } from "./NewLink";

export interface ShareSessionProps {
  host: Host;
  info: HostInfo | null;
  session: SessionSummary;
  onClose: () => void;
}

/** Creates, lists and revokes the guest links of a session. */
export default function ShareSession({ host, info, session, onClose }: ShareSessionProps) {
  const { data, error, refetch } = useHostQuery(host, "list_clients", {});
  const [revoking, setRevoking] = useState<Client | null>(null);
  const [revoked, setRevoked] = useState<string | null>(null);
  const links = data?.clients.filter(({ sessionId }) => sessionId === session.id) ?? null;
  return (
    <>
      <Sheet title={t("guests.sheet.title")} onClose={onClose}>
        <p className="text-muted text-sm">{t("guests.sheet.explained")}</p>
        <NewLink host={host} info={info} session={session} revoked={revoked} onCreated={refetch} />
        <GuestLinks links={links} error={error} onRevoke={setRevoking} />
      </Sheet>
      {revoking ? (
        <ConfirmSheet
          title={t("guests.revoke.title", { label: revoking.label })}
          confirm={t("guests.revoke.confirm")}
          onConfirm={async () => {
            await host.request("revoke_client", { clientId: revoking.id });
            setRevoked(revoking.id);
            await refetch();
          }}
          onClose={() => setRevoking(null)}
        >
          {t("guests.revoke.explained")}
        </ConfirmSheet>
      ) : null}
    </>
  );
}
