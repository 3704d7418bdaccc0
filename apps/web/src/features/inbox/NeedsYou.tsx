import { lazy, type RefObject, useCallback, useState } from "react";
import { Link } from "wouter";
import { Button } from "../../components/Button";
import { t } from "../../i18n/inbox";
import { address } from "../route/address";
import { SessionMenu } from "../session/SessionMenu";
import { sessionTitle } from "../shared/host-data";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";
import { WaitingBadge } from "../status/WaitingBadge";
import { PlaceOf, Time } from "./InboxRow";
import type { Item } from "./sections";
import type { useEachAnswer } from "./use-machines";

const AskCards = lazy(chunk(() => import("./AskCards")));

/** How many sessions show their approvals and questions until a person opens more. */
const opened = 5;

export interface NeedsYouProps {
  items: readonly Item[];
  infos: ReturnType<typeof useEachAnswer<"get_host">>;
  now: number;
  /** The scrolling element. */
  box: RefObject<HTMLElement | null>;
}

/** The sessions that wait for a person, with their approvals and questions. */
export function NeedsYou({ items, infos, now, box }: NeedsYouProps) {
  const [answers, setAnswers] = useState(0);
  const [wanted, setWanted] = useState<readonly string[]>([]);
  const onAnswered = useCallback(() => {
    setAnswers((n) => n + 1);
    // The cards of one session move the focus among themselves. After its last one it moves to the next session.
    requestAnimationFrame(() => focusNext(box.current));
  }, [box]);
  return (
    <ul className="space-y-3">
      {items.map((item, i) => {
        const { id, device, host, session, reachable } = item;
        const shown = i < opened || wanted.includes(id);
        return (
          <li key={id} data-testid="inbox-asks" className="rounded-lg border border-line bg-surface">
            <div className="flex items-center rounded-lg pr-1.5 hover:bg-sunken">
              <Link
                data-stop
                data-item={id}
                to={address.session(device.id, session.id)}
                className="touchable flex min-w-0 flex-1 flex-wrap items-center gap-x-3 rounded-lg py-2 pr-1.5 pl-4"
              >
                <span className="flex min-w-0 flex-1 basis-48 items-center gap-2">
                  <span dir="auto" className="truncate font-medium text-sm">
                    {sessionTitle(session)}
                  </span>
                  <WaitingBadge deviceId={device.id} sessionId={session.id} />
                </span>
                <PlaceOf item={item} />
                <Time at={session.updatedAt} now={now} />
              </Link>
              <SessionMenu
                host={host}
                info={infos.get(device.id)?.host ?? null}
                session={session}
                label={t("inbox.inboxRow.detailsOf", { title: sessionTitle(session) })}
              />
            </div>
            <div className="-mt-1.5 px-3 empty:hidden">
              {!reachable ? (
                <p className="px-1 pb-3 text-muted text-sm">{t("inbox.needsYou.offline", { label: device.label })}</p>
              ) : shown ? (
                <LazyPart>
                  <AskCards host={host} sessionId={session.id} among={{ epoch: answers, onAnswered }} />
                </LazyPart>
              ) : (
                <Button className="mb-3" onClick={() => setWanted([...wanted, id])}>
                  {t("inbox.needsYou.show")}
                </Button>
              )}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

/** Moves the focus to the next waiting card, if it is on one that no longer waits, or on nothing. */
function focusNext(box: Element | null): void {
  const { activeElement } = document;
  const card = activeElement?.closest("[data-card]");
  const done = card ? !card.matches("[data-asks]") : activeElement === document.body;
  if (done) {
    box?.querySelector<HTMLElement>("[data-asks] [data-heading]")?.focus();
  }
}
