import { Badge } from "../../../components/Badge";
import { IconButton } from "../../../components/Button";
import { MoreIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { type Place, useHistory } from "../context/history-context";

/**
 * The label of an entry and the button of its menu. Its space is reserved without the button, so that rows do not move.
 */
export function PlaceMenu({ place }: { place: Place }) {
  const { labels, open } = useHistory();
  const label = labels.get(place.entryId);
  return (
    <span className="touchable inline-flex items-center gap-1.5">
      {label ? <Badge tone="accent">{label}</Badge> : null}
      {open ? (
        <IconButton
          data-testid="place-menu"
          label={place.before ? t("chat.messages.editFromHereForkOr") : t("chat.messages.continueFromHereForkOr")}
          onClick={() => open(place)}
        >
          <MoreIcon />
        </IconButton>
      ) : null}
    </span>
  );
}
