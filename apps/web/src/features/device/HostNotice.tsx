import { Link } from "wouter";
import type { HostStatus } from "../../api/contract";
import { Button } from "../../components/Button";
import { CommandBox } from "../../components/CommandBox";
import { CloseIcon, MachineIcon, WarningIcon } from "../../components/icons";
import { Notice } from "../../components/Notice";
import { Spinner } from "../../components/Spinner";
import { t } from "../../i18n/device";
import { rich } from "../../i18n/rich";
import { ConnectionLink } from "../shared/ConnectionLink";
import { useReadable, useScorel } from "../shared/scorel-context";
import { clock } from "../shared/time";

const underlined = "-my-2 font-medium text-sm underline underline-offset-2";

export interface HostNoticeProps {
  status: HostStatus;
  label: string;
  /** When the shown copy of the device's data was saved, if it is one. */
  savedAt?: number | null;
}

/** Shows why a device does not answer and what to do; renders nothing while it does. */
export function HostNotice({ status, label, savedAt = null }: HostNoticeProps) {
  const saved =
    savedAt === null ? null : (
      <span data-testid="saved-copy" className="block">
        {t("device.hostNotice.savedCopy", { time: clock(savedAt) })}
      </span>
    );
  switch (status) {
    case "open":
      return null;
    case "connecting":
      return (
        <Notice
          icon={<Spinner />}
          title={t("device.hostNotice.connectingTo", { label })}
          actions={<ConnectionLink className={underlined}>{t("device.hostNotice.checkTheConnection")}</ConnectionLink>}
        >
          {saved}
          {t("device.hostNotice.settingUpEncryption")}
        </Notice>
      );
    case "offline":
      return (
        <Notice
          data-testid="offline-notice"
          tone="warn"
          icon={<MachineIcon />}
          title={t("device.hostNotice.isOffline", { label })}
          actions={<ConnectionLink className={underlined}>{t("device.hostNotice.checkTheConnection")}</ConnectionLink>}
        >
          {saved}
          {rich((values) => t("device.hostNotice.wake", values), { command: <Serve /> })}
        </Notice>
      );
    case "expired":
      return <ExpiredNotice label={label} />;
    case "revoked":
      return <RevokedNotice label={label} />;
  }
}

/** Shows the command that starts a host. */
function Serve() {
  return <code className="font-mono">{"scorel host serve"}</code>;
}

/** Shows how the access of this browser is extended. The page retries only on request. */
export function ExpiredNotice({ label }: { label: string }) {
  const scorel = useScorel();
  const me = useReadable(scorel.me);
  const command = `scorel host clients limit ${me?.id ?? "ID"} --expires 8h`;
  return (
    <Notice
      data-testid="expired-notice"
      tone="warn"
      icon={<WarningIcon />}
      title={t("device.hostNotice.expired", { label })}
      actions={
        <Button tone="primary" data-testid="try-access" onClick={() => scorel.reconnectNow()}>
          {t("device.devicePage.tryAgain")}
        </Button>
      }
    >
      <p>{t("device.hostNotice.expiredExplained")}</p>
      <CommandBox command={command} label={t("device.hostNotice.copyCommand")} className="mt-3 bg-surface" />
    </Notice>
  );
}

export function RevokedNotice({ label }: { label: string }) {
  return (
    <Notice
      data-testid="revoked-notice"
      tone="danger"
      icon={<CloseIcon />}
      title={t("device.hostNotice.removed", { label })}
      actions={
        <Link
          to="/pair"
          className="touchable inline-flex items-center rounded-md bg-accent px-3.5 font-medium text-on-accent text-sm hover:bg-accent-hover"
        >
          {t("device.hostNotice.pairAgain")}
        </Link>
      }
    >
      {t("device.hostNotice.noAccess")}
    </Notice>
  );
}
