import type { Host } from "../../api/contract";
import { ApiKind, type Client, type ClientLimits, type Grant, type HostInfo } from "../../api/types";
import { Button } from "../../components/Button";
import { Notice } from "../../components/Notice";
import { Sheet } from "../../components/Sheet";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/access";
import { isRefusal } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";
import { GrantList } from "./GrantList";
import { LimitsForm } from "./LimitsForm";
import { mayDo, seen, untilWhen } from "./words";

export interface ClientAccessProps {
  host: Host;
  client: Client;
  /** Whether it is this browser. */
  own: boolean;
  info: HostInfo | null;
  /** Reloads the list of clients. */
  onChanged: () => Promise<unknown>;
  onBack: () => void;
}

/** The grants, projects and expiry of one client, and the forms to change them. */
export function ClientAccess({ host, client, own, info, onChanged, onBack }: ClientAccessProps) {
  const { data } = useHostQuery(host, "list_projects", {});
  const fixed = whyFixed(client, own);
  const change = async (run: () => Promise<unknown>) => {
    try {
      await run();
    } catch (cause) {
      throw isRefusal(cause) && cause.kind === ApiKind.unknown_request ? new Error(t("access.limits.old")) : cause;
    } finally {
      await onChanged(); // even after an error: the limits may have changed meanwhile
    }
  };
  const { id: clientId } = client;
  return (
    <Sheet
      title={t("access.limits.title", { label: client.label })}
      onClose={onBack}
      footer={
        <Button data-testid="access-back" onClick={onBack}>
          {t("access.limits.back")}
        </Button>
      }
    >
      <div className="space-y-4" data-testid="client-access">
        {fixed ? (
          <Notice title={fixed}>
            <p>{mayDo(client.grants)}</p>
            <p>
              {seen(client, data?.projects)} · {untilWhen(client, Date.now())}
            </p>
          </Notice>
        ) : null}
        {client.sessionId ? null : (
          <GrantList
            client={client}
            info={info}
            fixed={fixed !== null}
            onChange={(grant: Grant, given) => change(() => host.request("set_grant", { clientId, grant, given }))}
          />
        )}
        {fixed ? null : data ? (
          <LimitsForm
            client={client}
            projects={data.projects}
            info={info}
            onSave={(limits: ClientLimits) => change(() => host.request("set_limits", { clientId, ...limits }))}
          />
        ) : (
          <Skeleton label={t("access.limits.loadingProjects")} rows={3} />
        )}
      </div>
    </Sheet>
  );
}

/** Returns why the access of a client cannot be changed here. */
function whyFixed(client: Client, own: boolean): string | null {
  if (own) {
    return t("access.limits.fixedOwn");
  }
  return client.sessionId ? t("access.limits.fixedGuest") : null;
}
