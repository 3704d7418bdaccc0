import { Badge } from "../../components/Badge";
import { IconButton } from "../../components/Button";
import { MoreIcon } from "../../components/icons";
import { type Place, useHistory } from "./history-context";

/** The label of an entry and the button of its menu. */
export function PlaceMenu({ place }: { place: Place }) {
  const { labels, open } = useHistory();
  const label = labels.get(place.entryId);
  return (
    <span className="inline-flex items-center gap-1.5">
      {label ? <Badge tone="accent">{label}</Badge> : null}
      {open ? (
        <IconButton
          data-testid="place-menu"
          label={
            place.before ? "Go back to before this message, fork or label it" : "Go back to here, fork or label it"
          }
          onClick={() => open(place)}
        >
          <MoreIcon />
        </IconButton>
      ) : null}
    </span>
  );
}
