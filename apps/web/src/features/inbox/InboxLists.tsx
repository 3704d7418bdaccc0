import { type RefObject, useState } from "react";
import { Link } from "wouter";
import { Button } from "../../components/Button";
import { SearchIcon, TerminalIcon } from "../../components/icons";
import { EmptyState } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/inbox";
import { MoreSessions } from "../device/MoreSessions";
import { address } from "../route/address";
import type { Filter } from "../route/inbox-filter";
import { seen } from "../shared/seen";
import { InboxRow } from "./InboxRow";
import { NeedsYou } from "./NeedsYou";
import { Section } from "./Section";
import type { Item, Sections } from "./sections";
import type { ItemActions } from "./use-item-actions";
import type { Machine, useEachAnswer } from "./use-machines";

/** How many rows a section shows at first, and how many more each time its end is reached. */
const step = 40;

export interface InboxListsProps {
  sections: Sections;
  machines: readonly Machine[];
  filter: Filter;
  infos: ReturnType<typeof useEachAnswer<"get_host">>;
  now: number;
  box: RefObject<HTMLElement | null>;
  actions: ItemActions;
}

/** The sections of the inbox, or why there are none. */
export function InboxLists({ sections, machines, filter, infos, now, box, actions }: InboxListsProps) {
  const { needsYou, running, unread, recent } = sections;
  const filtered = Object.keys(filter).length > 0;
  if (needsYou.length + running.length + unread.length + recent.length === 0) {
    return <Nothing machines={machines} filtered={filtered} />;
  }
  const rows = { infos, now, actions };
  return (
    <>
      <Section title={t("inbox.states.needsYou")} count={needsYou.length} testId="inbox-needs-you">
        <NeedsYou items={needsYou} infos={infos} now={now} box={box} />
      </Section>
      <Section title={t("inbox.states.running")} count={running.length} testId="inbox-running">
        <Rows items={running} {...rows} />
      </Section>
      <Section
        title={t("inbox.states.unread")}
        count={unread.length}
        testId="inbox-unread"
        action={
          <Button tone="quiet" className="py-0.5! text-xs!" onClick={() => markAllRead(unread)}>
            {t("inbox.inboxLists.markAllRead")}
          </Button>
        }
      >
        <Rows items={unread} {...rows} />
      </Section>
      <Section
        title={
          filter.state === "archived"
            ? t("inbox.states.archived")
            : filter.state === "pinned"
              ? t("inbox.states.pinned")
              : t("inbox.states.recent")
        }
        count={recent.length}
        testId="inbox-recent"
      >
        <Rows key={JSON.stringify(filter)} items={recent} {...rows} />
        <Older machines={machines} filter={filter} />
      </Section>
    </>
  );
}

function markAllRead(items: readonly Item[]): void {
  for (const { device, session } of items) {
    seen.markRead(device.id, [session]);
  }
}

interface RowsProps extends Pick<InboxListsProps, "infos" | "now" | "actions"> {
  items: readonly Item[];
}

function Rows({ items, infos, now, actions }: RowsProps) {
  const [shown, setShown] = useState(step);
  return (
    <div className="overflow-clip rounded-lg border border-line bg-surface">
      <ul className="divide-y divide-line">
        {items.slice(0, shown).map((item) => (
          <li key={item.id}>
            <InboxRow item={item} info={infos.get(item.device.id)?.host ?? null} now={now} actions={actions} />
          </li>
        ))}
      </ul>
      <MoreSessions
        state={items.length > shown ? "some" : "none"}
        shown={shown}
        onMore={() => setShown(shown + step)}
      />
    </div>
  );
}

/** Links to the sessions that the inbox does not list. */
function Older({ machines, filter }: { machines: readonly Machine[]; filter: Filter }) {
  return machines
    .filter(({ older, device }) => older > 0 && (!filter.machine || filter.machine === device.id))
    .map(({ device: { id, label }, older }) => (
      <Link
        key={id}
        to={address.machine(id)}
        className="touchable flex items-center px-1 text-muted text-sm hover:text-ink"
      >
        {t("inbox.inboxLists.older", { n: older, label })}
      </Link>
    ));
}

/** Explains why nothing is listed, and what to do. */
function Nothing({ machines, filtered }: { machines: readonly Machine[]; filtered: boolean }) {
  if (machines.some(({ sessions, status }) => sessions === null && (status === "connecting" || status === "open"))) {
    const failed = machines.every(({ sessions, error }) => sessions !== null || error !== null);
    return failed ? null : <Skeleton label={t("inbox.inboxPage.loading")} rows={5} />;
  }
  if (filtered) {
    return (
      <EmptyState
        icon={<SearchIcon />}
        title={t("inbox.inboxLists.noMatch")}
        actions={
          <Link
            to="/"
            replace
            className="touchable inline-flex items-center rounded-md border border-line bg-surface px-3.5 font-medium text-sm hover:border-line-strong"
          >
            {t("inbox.inboxLists.clearFilters")}
          </Link>
        }
      >
        {t("inbox.inboxLists.noMatchExplained")}
      </EmptyState>
    );
  }
  const reachable = machines.filter(({ status }) => status === "open");
  if (reachable.length === 0) {
    return (
      <EmptyState icon={<TerminalIcon />} title={t("inbox.inboxLists.allOffline")}>
        {t("inbox.inboxLists.allOfflineExplained")}
      </EmptyState>
    );
  }
  const [only] = reachable;
  return (
    <EmptyState
      icon={<TerminalIcon />}
      title={t("inbox.inboxLists.empty")}
      actions={
        only ? (
          <Link
            to={address.machine(only.device.id)}
            className="touchable inline-flex items-center rounded-md bg-accent px-3.5 font-medium text-on-accent text-sm hover:bg-accent-hover"
          >
            {t("inbox.inboxLists.chooseProject")}
          </Link>
        ) : null
      }
    >
      {t("inbox.inboxLists.emptyExplained")}
    </EmptyState>
  );
}
