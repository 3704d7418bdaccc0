import type { Host, HostStatus, StartingSession } from "../../api/contract";
import { Button } from "../../components/Button";
import { ClockIcon, WarningIcon } from "../../components/icons";
import { t } from "../../i18n/start";
import { Prompt, State } from "../chat/messages/UserRow";
import { NotStored, OutgoingPictures } from "../chat/queue/OutgoingRows";
import { useReadable } from "../shared/scorel-context";
import { HostHelp } from "../shared/with-help";

export interface StartingRowProps {
  host: Host;
  starting: StartingSession;
  /** The label of the machine. */
  label: string;
  /** Returns the prompt to the composer; null if there is none. */
  onEdit: (() => void) | null;
}

/** A prompt whose session does not exist yet. */
export function StartingRow({ host, starting, label, onEdit }: StartingRowProps) {
  const { newSessions } = host;
  const status = useReadable(host.status);
  const { clientKey, text, images, state, error, kind } = starting;
  return (
    <Prompt text={text} mine clientId={undefined} pictures={<OutgoingPictures images={images} />} waiting>
      {state === "waiting" ? (
        <State state="device" icon={<ClockIcon />}>
          {waitsFor(status, label)}
        </State>
      ) : (
        <State state="failed" icon={<WarningIcon className="text-danger" />}>
          <span className="text-danger">
            {t("start.startingRow.notSent", { error })} <HostHelp kind={kind} />
          </span>
        </State>
      )}
      {starting.unstored ? <NotStored /> : null}
      <span className="ml-auto flex flex-wrap gap-2">
        {state === "failed" ? (
          <Button onClick={() => newSessions.retry(clientKey)}>{t("start.startingRow.tryAgain")}</Button>
        ) : null}
        {onEdit ? (
          <Button tone="quiet" data-testid="edit-start" onClick={onEdit}>
            {t("start.startingRow.edit")}
          </Button>
        ) : null}
        <Button tone="quiet" onClick={() => newSessions.discard(clientKey)}>
          {t("start.startingRow.discard")}
        </Button>
      </span>
    </Prompt>
  );
}

function waitsFor(status: HostStatus, label: string): string {
  switch (status) {
    case "open":
      return t("start.startingRow.starting");
    case "revoked":
      return t("start.startingRow.afterPairing", { label });
    default:
      return t("start.startingRow.waiting", { label });
  }
}
