import type { RefObject } from "react";
import { Button } from "../../../components/Button";
import { ArrowDownIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { bringIntoSight } from "../../shared/bring-into-sight";
import { ASKS, useCardsInSight } from "./use-cards-in-sight";

export interface ToCardsProps {
  /** The box that scrolls. */
  box: RefObject<HTMLElement | null>;
  /** The ids of the cards that wait, in their order. */
  ids: readonly string[];
  /** The reader is elsewhere than at the end. */
  away: boolean;
  /** They are in the page: it shows the end of the session. */
  here: boolean;
  /** Brings the reader to the end. */
  onLatest: () => void;
}

/** The way to what the agent asks, while none of it is in sight. */
export function ToCards({ box, ids, away, here, onLatest }: ToCardsProps) {
  const inSight = useCardsInSight(box, here ? ids.join(" ") : "");
  if (ids.length === 0 || inSight || !away) {
    return null;
  }
  const go = () => {
    onLatest();
    // The end shows the last of them; several begin with the first.
    requestAnimationFrame(() => {
      const first = box.current?.querySelector(ASKS);
      if (!first || !box.current) {
        return;
      }
      const above = first.getBoundingClientRect().top < box.current.getBoundingClientRect().top;
      if (above) {
        bringIntoSight(box.current, first, "top");
      }
    });
  };
  return (
    // A line of its own: over the transcript it would cover what it leads to.
    <div className="flex shrink-0 justify-center py-2">
      <Button data-testid="to-card" tone="primary" onClick={go}>
        <ArrowDownIcon />{" "}
        {ids.length > 1
          ? t("chat.transcript.requestsNeedYou", { length: ids.length })
          : t("chat.transcript.theAgentNeedsYou")}
      </Button>
    </div>
  );
}
