import type { Client } from "../../api/types";
import { Dot } from "../../components/Badge";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/guests";
import { moment, untilWhen } from "../access/words";
import { useNow } from "../shared/time";
import { withHelp } from "../shared/with-help";

export interface GuestLinksProps {
  /** null until the machine has sent them. */
  links: readonly Client[] | null;
  error: unknown;
  onRevoke: (link: Client) => void;
}

/** The links of a session that are valid, with their last use. */
export function GuestLinks({ links, error, onRevoke }: GuestLinksProps) {
  const now = useNow(60_000);
  return (
    <section aria-label={t("guests.list.title")} className="mt-5 border-line border-t pt-4">
      <h3 className="font-medium text-sm">{t("guests.list.title")}</h3>
      <ErrorText className="mt-2">{error ? withHelp(error) : null}</ErrorText>
      {links || error ? null : <Skeleton label={t("guests.list.loading")} rows={2} className="mt-2" />}
      {links?.length === 0 ? <p className="mt-1 text-muted text-sm">{t("guests.list.empty")}</p> : null}
      <ul className="divide-y divide-line">
        {[...(links ?? [])]
          .sort((a, b) => b.pairedAt - a.pairedAt)
          .map((link) => (
            <li key={link.id} data-testid="guest-link" className="flex items-center gap-3 py-2.5">
              <div className="min-w-0 flex-1">
                <bdi className="font-medium [overflow-wrap:anywhere]">{link.label}</bdi>
                <p className="text-muted text-sm">{untilWhen(link, now)}</p>
                <p data-testid="guest-used" className="flex items-center gap-1.5 text-faint text-sm">
                  <Dot tone={link.online ? "accent" : "neutral"} /> {usedText(link)}
                </p>
              </div>
              <Button
                aria-label={t("guests.revoke.label", { label: link.label })}
                data-testid="guest-revoke"
                onClick={() => onRevoke(link)}
              >
                {t("guests.revoke.confirm")}
              </Button>
            </li>
          ))}
      </ul>
    </section>
  );
}

function usedText({ online, lastSeen }: Client): string {
  if (online) {
    return t("guests.list.openNow");
  }
  return lastSeen ? t("guests.list.lastUsed", { time: moment(lastSeen) }) : t("guests.list.neverUsed");
}
