import { Button } from "../../components/Button";
import { LinkIcon } from "../../components/icons";
import { t } from "../../i18n/guests";

/** Opens the guest links of a session; null where this browser may not share. */
export function ShareAction({ onShare }: { onShare: (() => void) | null }) {
  return (
    <div>
      <Button
        data-testid="share-session"
        className="max-sm:w-full max-sm:justify-start"
        disabled={onShare === null}
        onClick={onShare ?? undefined}
      >
        <LinkIcon /> {t("guests.action.share")}
      </Button>
      {onShare ? null : <p className="mt-1.5 text-muted text-sm">{t("guests.action.notAllowed")}</p>}
    </div>
  );
}
