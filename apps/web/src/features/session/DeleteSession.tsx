import type { Host, SessionView } from "../../api/contract";
import type { SessionSummary } from "../../api/types";
import { rich } from "../../i18n/rich";
import { t } from "../../i18n/session";
import { address } from "../route/address";
import { navigate } from "../route/history";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { sessionTitle } from "../shared/host-data";
import { useDrafts } from "../shared/use-drafts";

export interface DeleteSessionProps {
  host: Host;
  session: SessionSummary;
  view: SessionView | undefined;
  onClose: () => void;
}

/** Asks for confirmation, deletes the session on the host, and leaves its page. */
export default function DeleteSession({ host, session, view, onClose }: DeleteSessionProps) {
  const drafts = useDrafts();
  const { deviceId } = host;
  const confirm = async () => {
    await host.request("delete_session", { sessionId: session.id });
    // Unsent prompts have no session any more.
    for (const prompt of view?.state.get().outgoing ?? []) {
      if (prompt.mine) {
        view?.discard(prompt.clientKey);
      }
    }
    drafts.keep(`${deviceId}/${session.id}`, "");
    navigate(address.machine(deviceId));
  };
  return (
    <ConfirmSheet
      title={t("session.deleteSession.deleteTheSession")}
      confirm={t("session.deleteSession.deleteForGood")}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        {rich((title) => t("session.deleteSession.explanation", title), {
          title: <span className="break-words text-ink">{sessionTitle(session)}</span>,
        })}
      </p>
    </ConfirmSheet>
  );
}
