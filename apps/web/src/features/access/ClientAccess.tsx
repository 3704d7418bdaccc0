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
  /** It is this browser. */
  own: boolean;
  info: HostInfo | null;
  /** Reads the list of clients again. */
  onChanged: () => Promise<unknown>;
  onBack: () => void;
}

/** What one client may do, in which projects and for how long, and how to change that. */
export function ClientAccess({ host, client, own, info, onChanged, onBack }: ClientAccessProps) {
  const { data } = useHostQuery(host, "list_projects", {});
  const fixed = whyFixed(client, own);
  const change = async (run: () => Promise<unknown>) => {
    try {
      await run();
    } catch (cause) {
      throw isRefusal(cause) && cause.kind === ApiKind.unknown_request ? new Error(t("access.limits.old")) : cause;
    } finally {
      await onChanged(); // also after a refusal: what holds may be something else by now
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

/** Why nobody changes the access of a client here. */
function whyFixed(client: Client, own: boolean): string | null {
  if (own) {
    return t("access.limits.fixedOwn");
  }
  return client.sessionId ? t("access.limits.fixedGuest") : null;
}
