import { useRef } from "react";
import { useParams } from "wouter";
import type { Host } from "../../api/contract";
import { ApiKind } from "../../api/types";
import { Button } from "../../components/Button";
import { CommandBox } from "../../components/CommandBox";
import { RefreshIcon, TerminalIcon } from "../../components/icons";
import { EmptyState, Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/terminal";
import { HostNotice } from "../device/HostNotice";
import { address, idIn, type paths } from "../route/address";
import { useSearchParams } from "../route/entry";
import { isRefusal } from "../shared/errors";
import { isLimited } from "../shared/grants";
import { useHost, useHostFreshness, useHostQuery } from "../shared/host-queries";
import { PageHeader } from "../shared/PageHeader";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useTitle } from "../shared/use-title";
import { withHelp } from "../shared/with-help";
import { Terminals } from "./Terminals";

/** The shells of a machine, for a browser with the grant. */
export function TerminalPage() {
  const { deviceId } = useParams<typeof paths.terminals>();
  const params = useSearchParams();
  const project = idIn(params, "project");
  const session = idIn(params, "session");
  const host = useHost(deviceId);
  const device = useReadable(useScorel().devices)?.find((each) => each.id === deviceId);
  const status = useReadable(host.status);
  useHostFreshness(host);
  useTitle(t("terminal.page.title"));
  const { data, error, refetch } = useHostQuery(host, "list_terminals", {});
  const label = device?.label ?? deviceId;
  // The page itself changes the list from now on.
  const known = useRef(data?.terminals);
  known.current ??= data?.terminals;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHeader title={t("terminal.page.title")} subtitle={label} back={address.machine(deviceId)} />
      <main className="flex min-h-0 flex-1 flex-col">
        {isRefusal(error) && error.kind === ApiKind.not_allowed ? (
          <NoGrant host={host} label={label} />
        ) : known.current ? (
          <Terminals
            key={deviceId}
            host={host}
            label={label}
            first={known.current}
            project={project}
            session={session}
          />
        ) : (
          <div className="safe-x mx-auto w-full max-w-2xl py-6">
            {isRefusal(error) && error.kind === ApiKind.unknown_request ? (
              <Notice icon={<RefreshIcon />} title={t("terminal.old.title")}>
                {t("terminal.old.explained", { label })}
              </Notice>
            ) : error ? (
              <Notice
                tone="danger"
                title={t("terminal.page.notLoaded")}
                actions={<Button onClick={() => refetch()}>{t("terminal.page.tryAgain")}</Button>}
              >
                {withHelp(error)}
              </Notice>
            ) : status === "open" || status === "connecting" ? (
              <Skeleton label={t("terminal.page.loading")} rows={4} />
            ) : status === "expired" ? (
              <HostNotice status={status} label={label} />
            ) : (
              <EmptyState icon={<TerminalIcon />} title={t("terminal.page.none")}>
                {t("terminal.page.unreachable", { label })}
              </EmptyState>
            )}
          </div>
        )}
      </main>
    </div>
  );
}

/** Shows how the machine's user gives this browser the missing grant. */
function NoGrant({ host, label }: { host: Host; label: string }) {
  const info = useHostQuery(host, "get_host", {}).data?.host ?? null;
  const me = useReadable(useScorel().me);
  const id = me?.id ?? "ID";
  const command = `scorel host clients grant ${id} shell`;
  const unlimit = `scorel host clients limit ${id} --all-projects`;
  return (
    <div className="safe-x mx-auto w-full max-w-2xl py-6" data-testid="terminal-grant">
      <Notice icon={<TerminalIcon />} title={t("terminal.grant.title")}>
        {isLimited(info) ? (
          <>
            <p>{t("terminal.grant.limited", { label })}</p>
            <CommandBox command={unlimit} label={t("terminal.grant.copy")} className="mt-2 mb-3 bg-sunken" />
          </>
        ) : null}
        <p>{t("terminal.grant.explained", { label })}</p>
        <CommandBox command={command} label={t("terminal.grant.copy")} className="mt-2 bg-sunken" />
        <p className="mt-3">{t("terminal.grant.then")}</p>
      </Notice>
    </div>
  );
}
