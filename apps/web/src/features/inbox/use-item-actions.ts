import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Requests } from "../../api/types";
import { useToast } from "../../components/Toast";
import { t } from "../../i18n/inbox";
import { seen } from "../shared/seen";
import { putSession } from "../shared/sessions";
import { withHelp } from "../shared/with-help";
import type { Item } from "./sections";

export interface ItemActions {
  toggleRead(item: Item): void;
  togglePinned(item: Item): void;
  toggleArchived(item: Item): void;
}

/** The actions for a listed session. */
export function useItemActions(): ItemActions {
  const client = useQueryClient();
  const toast = useToast();
  return useMemo(() => {
    const update = async (
      { host, session }: Item,
      fields: Omit<Requests["update_session"]["request"], "sessionId">,
    ) => {
      const answer = await host.request("update_session", { sessionId: session.id, ...fields });
      putSession(client, host.deviceId, answer.session);
    };
    const failed = (cause: unknown) => toast(withHelp(cause));
    return {
      toggleRead({ device, session, unread }) {
        if (unread) {
          seen.markRead(device.id, [session]);
        } else {
          seen.markUnread(device.id, session);
        }
        toast(unread ? t("inbox.itemActions.markedRead") : t("inbox.itemActions.markedUnread"));
      },
      togglePinned(item) {
        const pinned = !item.session.pinned;
        update(item, { pinned }).then(
          () => toast(pinned ? t("inbox.itemActions.pinned") : t("inbox.itemActions.unpinned")),
          failed,
        );
      },
      toggleArchived(item) {
        const archived = !item.session.archived;
        const undo = () => void update(item, { archived: !archived }).catch(failed);
        update(item, { archived }).then(
          () =>
            toast(archived ? t("inbox.itemActions.archived") : t("inbox.itemActions.unarchived"), {
              label: t("inbox.itemActions.undo"),
              run: undo,
            }),
          failed,
        );
      },
    };
  }, [client, toast]);
}
