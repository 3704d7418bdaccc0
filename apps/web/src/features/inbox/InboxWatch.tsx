import { lazy, Suspense, useEffect, useSyncExternalStore } from "react";
import type { Host } from "../../api/contract";
import { useOpen } from "../route/entry";
import { hostKey, useHostFreshness } from "../shared/host-queries";
import { chunk } from "../shared/missing-chunk";
import { useRecalled } from "../shared/recall";
import { useReadable, useScorel } from "../shared/scorel-context";
import { seen } from "../shared/seen";
import { allSessionsKey } from "../shared/sessions";
import { showCount } from "../shared/use-title";
import { type Attention, attention, noAttention } from "./attention";
import { type Item, needsYou } from "./sections";
import { itemsOf, most, useMachines, useSeen } from "./use-machines";
import { useMovedSessions } from "./use-moved-sessions";

const NoticeAnswers = lazy(chunk(() => import("../push/NoticeAnswers")));

interface BadgeNavigator {
  setAppBadge?(count: number): Promise<void>;
  clearAppBadge?(): Promise<void>;
}

/**
 * Follows the sessions of all machines on every page, and counts those that wait for the person. It renders nothing.
 */
export default function InboxWatch() {
  const machines = useMachines();
  const items = itemsOf(machines ?? [], useSeen(machines));
  const inSight = useSessionInSight(items);
  useCounts(items.filter(({ id }) => id !== inSight));
  useAppBadge(items);
  useForgotten();
  useMovedSessions(machines);
  return (
    <>
      {machines?.map(({ device, host }) => (
        <Follow key={device.id} host={host} />
      ))}
      <Suspense fallback={null}>
        <NoticeAnswers />
      </Suspense>
    </>
  );
}

function Follow({ host }: { host: Host }) {
  useHostFreshness(host);
  useRecalled(host, allSessionsKey(host.deviceId, false), "list_sessions", { limit: most });
  useRecalled(host, hostKey(host.deviceId, "list_projects", {}), "list_projects", {});
  return null;
}

/** Publishes the counts to pages and the tab. */
function useCounts(items: readonly Item[]): void {
  const asking = items.filter(({ session }) => needsYou(session));
  const machines: Record<string, number> = {};
  for (const { device } of asking) {
    machines[device.id] = (machines[device.id] ?? 0) + 1;
  }
  const unread = items.filter((item) => item.unread).length;
  const told = JSON.stringify({ needsYou: asking.length, unread, machines } satisfies Attention);
  useEffect(() => attention.set(JSON.parse(told)), [told]);
  const count = asking.length + unread;
  useEffect(() => showCount(count), [count]);
  useEffect(() => {
    return () => {
      showCount(0);
      attention.set(noAttention);
    };
  }, []);
}

/** Shows the count on the app's icon. It is the same in all tabs, since the last one to set it wins. */
function useAppBadge(items: readonly Item[]): void {
  const count = items.filter((item) => item.unread || needsYou(item.session)).length;
  useEffect(() => {
    const { setAppBadge, clearAppBadge } = navigator as BadgeNavigator;
    const shown = count > 0 ? setAppBadge?.call(navigator, count) : clearAppBadge?.call(navigator);
    shown?.catch(() => {}); // the browser shows badges of installed apps only
  }, [count]);
}

const onVisible = (listener: () => void) => {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
};

/** Marks the shown session as seen. Returns the item's id. */
function useSessionInSight(items: readonly Item[]): string | undefined {
  const { deviceId, sessionId } = useOpen();
  const visible = useSyncExternalStore(onVisible, () => document.visibilityState === "visible");
  const shown = items.find(({ device, session }) => device.id === deviceId && session.id === sessionId);
  const news = visible && shown?.unread ? shown : undefined;
  useEffect(() => {
    if (news) {
      seen.markRead(news.device.id, [news.session]);
    }
  }, [news]);
  return visible ? shown?.id : undefined;
}

/** Drops the seen state of machines that revoked this browser. */
function useForgotten(): void {
  const devices = useReadable(useScorel().devices);
  useEffect(() => {
    for (const { id } of devices?.filter(({ revoked }) => revoked) ?? []) {
      seen.forget(id);
    }
  }, [devices]);
}
