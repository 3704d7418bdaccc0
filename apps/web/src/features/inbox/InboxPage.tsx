import { type RefObject, useRef, useState } from "react";
import { Redirect } from "wouter";
import { IconButton } from "../../components/Button";
import { QuestionIcon, SettingsIcon } from "../../components/icons";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/inbox";
import { useLingering } from "../chat/approvals/use-lingering";
import { DeviceList } from "../devices/DeviceList";
import { address, filterIn } from "../route/address";
import { useSearchParams } from "../route/entry";
import { navigate } from "../route/history";
import { HitList } from "../search/HitList";
import { isSearch } from "../search/query";
import { SearchField } from "../search/SearchField";
import { useSettingsSheet } from "../settings/settings-context";
import { useKeptScroll, useKeptState } from "../shared/kept";
import { openShortcuts } from "../shared/overlay";
import { PageHeader } from "../shared/PageHeader";
import { PaletteButton } from "../shared/PaletteButton";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useNow } from "../shared/time";
import { useTouch, useWide } from "../shared/use-media";
import { useTitle } from "../shared/use-title";
import { Wordmark } from "../shared/Wordmark";
import { Filters } from "./Filters";
import { InboxLists } from "./InboxLists";
import { MachineNotices } from "./MachineNotices";
import { type Item, needsYou, passes, sectionsOf } from "./sections";
import { focusStop, useInboxKeys } from "./use-inbox-keys";
import { useItemActions } from "./use-item-actions";
import { itemsOf, type Machine, useEachAnswer, useMachines, useSeen } from "./use-machines";
import { useSearchAll } from "./use-search-all";

/** The home page: sessions that need the person, running ones and new ones, of all machines. */
export function InboxPage() {
  const devices = useReadable(useScorel().devices);
  const { state } = filterIn(useSearchParams());
  const machines = useMachines(state === "archived");
  const openSettings = useSettingsSheet();
  const wide = useWide();
  const touch = useTouch();
  const box = useRef<HTMLElement>(null);
  useKeptScroll(box, "inbox");
  useTitle(t("inbox.inboxPage.inbox"));
  if (devices?.length === 0) {
    return <Redirect to="/pair" replace />;
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHeader
        title={wide ? t("inbox.inboxPage.inbox") : <Wordmark />}
        actions={
          <>
            {touch ? null : (
              <IconButton label={t("inbox.inboxPage.keys")} onClick={openShortcuts}>
                <QuestionIcon />
              </IconButton>
            )}
            {wide && devices?.length ? null : <PaletteButton />}
            {wide && devices ? null : (
              <IconButton label={t("inbox.inboxPage.settings")} onClick={openSettings}>
                <SettingsIcon />
              </IconButton>
            )}
          </>
        }
      />
      <main ref={box} tabIndex={-1} data-transcript className="safe-x min-h-0 flex-1 overflow-y-auto py-4 outline-none">
        <div data-guard-frame className="mx-auto max-w-3xl space-y-5">
          {devices === null || machines === null ? (
            <Skeleton label={t("inbox.inboxPage.loading")} rows={6} />
          ) : (
            <>
              <Inbox machines={machines} box={box} />
              <section aria-label={t("inbox.inboxPage.machines")}>
                <h2 className="flex min-h-9 items-center px-1 font-semibold text-sm">
                  {t("inbox.inboxPage.machines")}
                </h2>
                <DeviceList devices={devices} />
              </section>
            </>
          )}
        </div>
      </main>
    </div>
  );
}

interface InboxProps {
  machines: readonly Machine[];
  box: RefObject<HTMLElement | null>;
}

function Inbox({ machines, box }: InboxProps) {
  const filter = filterIn(useSearchParams());
  const now = useNow(30_000);
  const [text, setText] = useKeptState("inbox-search", "");
  const field = useRef<HTMLInputElement>(null);
  const projects = useEachAnswer("list_projects");
  const infos = useEachAnswer("get_host");
  const all = itemsOf(machines, useSeen(machines), projects);
  const asking = useAsking(all);
  const actions = useItemActions();
  const { found, left } = useSearchAll(machines, text);
  const items = all.filter(
    (item) => passes(filter, item) || (asking.has(item.id) && passes(withoutState(filter), item)),
  );
  const act = (run: (item: Item) => void) => (id: string) => {
    const item = items.find((each) => each.id === id);
    if (item) {
      run(item);
    }
  };
  useInboxKeys({
    box,
    item: {
      e: act((item) => {
        if (box.current) {
          focusStop(box.current, 1);
        }
        actions.toggleArchived(item);
      }),
      p: act(actions.togglePinned),
      u: act(actions.toggleRead),
    },
    page: { "/": () => field.current?.focus() },
  });
  const searching = isSearch(text);
  const listed = machines.some(({ sessions }) => sessions?.length);
  return (
    <>
      {listed || searching || Object.keys(filter).length > 0 ? (
        <div className="flex flex-wrap gap-2">
          <SearchField ref={field} text={text} onText={setText} busy={found.busy} className="min-w-0 flex-1 basis-64" />
          {searching ? null : (
            <Filters
              filter={filter}
              machines={machines}
              projects={projects}
              onChange={(search) => navigate(address.inbox(search), { replace: true })}
            />
          )}
        </div>
      ) : null}
      <MachineNotices machines={machines} />
      {searching ? (
        <div>
          <HitList found={found} />
          {left.length > 0 ? (
            <p className="px-1 pt-2 text-muted text-sm">{t("inbox.search.left", { machines: left.join(", ") })}</p>
          ) : null}
        </div>
      ) : (
        <InboxLists
          sections={sectionsOf(items, asking)}
          machines={machines}
          filter={filter}
          infos={infos}
          now={now}
          box={box}
          actions={actions}
        />
      )}
    </>
  );
}

function withoutState({ state: _, ...filter }: Parameters<typeof passes>[0]) {
  return filter;
}

/** Returns the items that wait for an answer, and for a moment those that just did. */
function useAsking(items: readonly Item[]): ReadonlySet<string> {
  const asking = items.filter(({ session }) => needsYou(session) && !session.archived).map(({ id }) => id);
  const ids = asking.join(" ");
  const [known, setKnown] = useState<{ ids: string; list: { id: string }[] }>({ ids: "", list: [] });
  if (known.ids !== ids) {
    setKnown({ ids, list: asking.map((id) => known.list.find((each) => each.id === id) ?? { id }) });
  }
  return new Set(useLingering(known.list).map(({ item }) => item.id));
}
