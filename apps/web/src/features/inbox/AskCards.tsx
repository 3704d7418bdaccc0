import { useMemo, useState } from "react";
import type { Host } from "../../api/contract";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/inbox";
import { Cards, type CardsProps } from "../chat/approvals/Cards";
import { NamesContext } from "../chat/context/live-context";
import { pendingApprovals } from "../chat/context/pending-approvals";
import { type OpenSession, useSession } from "../chat/context/use-session";
import { createHighlighting, HighlightingContext } from "../code/use-highlighted";
import { may } from "../shared/grants";
import { useClientNames, useHostQuery } from "../shared/host-queries";
import { useReadable, useScorel } from "../shared/scorel-context";

export interface AskCardsProps extends Required<Pick<CardsProps, "among">> {
  host: Host;
  sessionId: string;
}

/** The approvals and questions of a session, answered where it is listed. */
export default function AskCards({ host, sessionId, among }: AskCardsProps) {
  const open = useSession(host, sessionId);
  if (!open || open.state.status === "loading") {
    return <Skeleton label={t("inbox.askCards.loading")} rows={2} className="px-4" />;
  }
  return <Asks host={host} open={open} among={among} />;
}

function Asks({ host, open, among }: Omit<AskCardsProps, "sessionId"> & { open: OpenSession }) {
  const { state, view } = open;
  const info = useHostQuery(host, "get_host", {}).data?.host ?? null;
  const me = useReadable(useScorel().me);
  const nameOf = useClientNames(host);
  const [highlighting] = useState(() => createHighlighting());
  const pending = useMemo(() => pendingApprovals(state.live), [state.live]);
  const live = state.status === "live";
  return (
    <NamesContext value={nameOf}>
      <HighlightingContext value={highlighting}>
        <Cards
          state={state}
          view={view}
          pending={pending}
          me={me?.id}
          canAnswer={live && may(info, "approve")}
          canReply={live && may(info, "prompt")}
          canKeepRules={may(info, "manage")}
          among={among}
        />
      </HighlightingContext>
    </NamesContext>
  );
}
