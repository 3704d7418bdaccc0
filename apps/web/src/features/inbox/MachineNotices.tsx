import { ApiError } from "../../api/contract";
import { ApiKind } from "../../api/types";
import { Button } from "../../components/Button";
import { WarningIcon } from "../../components/icons";
import { Notice } from "../../components/Notice";
import { t } from "../../i18n/inbox";
import { withHelp } from "../shared/with-help";
import type { Machine } from "./use-machines";

/** Shows which machines did not report their sessions, and why. */
export function MachineNotices({ machines }: { machines: readonly Machine[] }) {
  return machines
    .filter(({ error, status }) => error !== null && status === "open")
    .map(({ device: { id, label }, error, retry }) => {
      const old = error instanceof ApiError && error.kind === ApiKind.unknown_request;
      return (
        <Notice
          key={id}
          data-testid="inbox-error"
          tone={old ? "warn" : "danger"}
          icon={<WarningIcon />}
          title={old ? t("inbox.machineNotices.tooOld", { label }) : t("inbox.machineNotices.notLoaded", { label })}
          actions={old ? null : <Button onClick={retry}>{t("inbox.machineNotices.tryAgain")}</Button>}
        >
          {old ? t("inbox.machineNotices.update") : withHelp(error)}
        </Notice>
      );
    });
}
