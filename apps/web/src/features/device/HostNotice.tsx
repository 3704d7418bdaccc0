import { Link } from "@tanstack/react-router";
import type { HostStatus } from "../../api/contract";
import { CloseIcon, MachineIcon } from "../../components/icons";
import { Notice } from "../../components/Notice";
import { Spinner } from "../../components/Spinner";
import { ConnectionLink } from "../shared/ConnectionLink";

const underlined = "-my-2 font-medium text-sm underline underline-offset-2";

/** Says why a device does not answer and what can be done; nothing while it does. */
export function HostNotice({ status, label }: { status: HostStatus; label: string }) {
  switch (status) {
    case "open":
      return null;
    case "connecting":
      return (
        <Notice
          icon={<Spinner />}
          title={`Reaching ${label}`}
          actions={<ConnectionLink className={underlined}>Check the connection</ConnectionLink>}
        >
          A sealed channel to the machine is being opened.
        </Notice>
      );
    case "offline":
      return (
        <Notice
          data-testid="offline-notice"
          tone="warn"
          icon={<MachineIcon />}
          title={`${label} is offline`}
          actions={<ConnectionLink className={underlined}>Check the connection</ConnectionLink>}
        >
          Wake the machine, or start scorel on it with <code className="font-mono">scorel host serve</code>. This page
          goes on by itself when it is back.
        </Notice>
      );
    case "revoked":
      return <RevokedNotice label={label} />;
  }
}

export function RevokedNotice({ label }: { label: string }) {
  return (
    <Notice
      data-testid="revoked-notice"
      tone="danger"
      icon={<CloseIcon />}
      title={`This browser was removed on ${label}`}
      actions={
        <Link
          to="/pair"
          className="touchable inline-flex items-center rounded-md bg-accent px-3.5 font-medium text-on-accent text-sm hover:bg-accent-hover"
        >
          Pair again
        </Link>
      }
    >
      It may no longer see or change anything there. To use the machine again, pair again.
    </Notice>
  );
}
