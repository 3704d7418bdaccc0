import type { RefObject } from "react";
import { Button } from "../../../components/Button";
import { ArrowDownIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { bringIntoSight } from "../../shared/bring-into-sight";
import { ASKS, useCardsInSight } from "./use-cards-in-sight";

export interface ToCardsProps {
  /** The scrolling element. */
  box: RefObject<HTMLElement | null>;
  /** The ids of the waiting cards, in order. */
  ids: readonly string[];
  /** Whether the reader is not at the end. */
  away: boolean;
  /** Whether the cards are in the page, because it shows the end of the session. */
  here: boolean;
  /** Scrolls to the end. */
  onLatest: () => void;
}

/** A button that leads to the approvals and questions while none of them is visible. */
export function ToCards({ box, ids, away, here, onLatest }: ToCardsProps) {
  const inSight = useCardsInSight(box, here ? ids.join(" ") : "");
  if (ids.length === 0 || inSight || !away) {
    return null;
  }
  const go = () => {
    onLatest();
    // The end shows the last card; with several, scroll to the first.
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
    // On a line of its own: over the transcript it would cover the cards.
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
