import { Link } from "wouter";
import type { HostInfo } from "../../api/types";
import { Dot } from "../../components/Badge";
import { IconButton } from "../../components/Button";
import { cx } from "../../components/cx";
import { ArchiveIcon, CheckIcon, PinIcon } from "../../components/icons";
import { t } from "../../i18n/inbox";
import { Pinned } from "../device/SessionRow";
import { address } from "../route/address";
import { SessionMenu } from "../session/SessionMenu";
import { may } from "../shared/grants";
import { sessionTitle } from "../shared/host-data";
import { ago } from "../shared/time";
import { WaitingBadge } from "../status/WaitingBadge";
import { type Item, needsYou } from "./sections";
import type { ItemActions } from "./use-item-actions";

export interface InboxRowProps {
  item: Item;
  /** null until the host has sent it. */
  info: HostInfo | null;
  now: number;
  actions: ItemActions;
}

/** A session of any machine in one line, or two on a phone. */
export function InboxRow({ item, info, now, actions }: InboxRowProps) {
  const { device, host, session, unread, reachable } = item;
  const title = sessionTitle(session);
  return (
    <div className="group/row relative flex items-center pr-1.5 focus-within:bg-sunken hover:bg-sunken">
      <Link
        data-testid="inbox-row"
        data-stop
        data-item={item.id}
        to={address.session(device.id, session.id)}
        className="touchable grid min-w-0 flex-1 grid-cols-[0.5rem_minmax(0,1fr)_auto] items-center gap-x-3 py-1.5 pl-3.5 sm:grid-cols-[0.5rem_minmax(0,1fr)_auto_3.5rem]"
      >
        <StateDot item={item} />
        <span className="flex min-w-0 items-center gap-2">
          <span dir="auto" className={cx("truncate text-sm", unread ? "font-semibold" : "text-ink")}>
            {session.pinned ? <Pinned /> : null}
            {title}
          </span>
          <WaitingBadge deviceId={device.id} sessionId={session.id} />
        </span>
        <span className="min-w-0 max-sm:col-span-2 max-sm:col-start-2 max-sm:row-start-2">
          <PlaceOf item={item} />
        </span>
        <Time at={session.updatedAt} now={now} />
        {session.damaged ? (
          <span className="col-span-2 col-start-2 line-clamp-2 text-danger text-xs">{session.damaged}</span>
        ) : null}
      </Link>
      {reachable && may(info, "prompt") ? <RowButtons item={item} title={title} actions={actions} /> : null}
      <SessionMenu host={host} info={info} session={session} label={t("inbox.inboxRow.detailsOf", { title })} />
    </div>
  );
}

/** Actions of one click, for a mouse; on a phone they are in the menu. */
function RowButtons({ item, title, actions }: { item: Item; title: string; actions: ItemActions }) {
  const { session, unread } = item;
  return (
    <span className="invisible absolute top-1/2 right-11 hidden -translate-y-1/2 bg-sunken pl-2 group-focus-within/row:visible group-hover/row:visible pointer-fine:flex">
      {session.running ? null : (
        <IconButton
          label={unread ? t("inbox.inboxRow.markReadLabel", { title }) : t("inbox.inboxRow.markUnreadLabel", { title })}
          onClick={() => actions.toggleRead(item)}
        >
          {unread ? <CheckIcon /> : <span className="size-2 rounded-full border-2 border-current" />}
        </IconButton>
      )}
      <IconButton
        label={session.pinned ? t("inbox.inboxRow.unpinLabel", { title }) : t("inbox.inboxRow.pinLabel", { title })}
        onClick={() => actions.togglePinned(item)}
      >
        <PinIcon />
      </IconButton>
      <IconButton
        label={
          session.archived ? t("inbox.inboxRow.unarchiveLabel", { title }) : t("inbox.inboxRow.archiveLabel", { title })
        }
        onClick={() => actions.toggleArchived(item)}
      >
        <ArchiveIcon />
      </IconButton>
    </span>
  );
}

/** The last known state of a session. */
function StateDot({ item: { session, unread, reachable } }: { item: Item }) {
  const waits = needsYou(session);
  const word = waits
    ? t("inbox.states.needsYou")
    : session.running
      ? t("inbox.states.running")
      : unread
        ? t("inbox.states.unread")
        : null;
  if (word === null) {
    return <span />;
  }
  return (
    <span title={word} className="inline-flex">
      <Dot tone={reachable ? (waits ? "warn" : "accent") : "neutral"} live={reachable && (waits || session.running)} />
      <span className="sr-only">{word}: </span>
    </span>
  );
}

/** The project and the machine of a session. */
export function PlaceOf({ item: { device, project, reachable } }: { item: Item }) {
  const place = [project?.name, device.label].filter(Boolean).join(" · ");
  return (
    <span dir="auto" className="caption block max-w-full truncate text-faint sm:max-w-64" title={place}>
      {reachable ? place : t("inbox.inboxRow.offline", { place })}
    </span>
  );
}

export function Time({ at, now }: { at: number; now: number }) {
  return (
    <time
      dateTime={new Date(at).toISOString()}
      className="caption shrink-0 whitespace-nowrap text-right text-faint max-sm:col-start-3 max-sm:row-start-1"
    >
      {ago(at, now)}
    </time>
  );
}
