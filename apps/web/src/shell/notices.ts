// Notifications: shows what hosts push, and keeps what a person answers there until a page has sent it. This worker has
// no keys and no connection. A page sends the answer through the sealed channel, like any other answer of this browser.
import type { NoticeAnswer, Pushed } from "../api/notices";

/** The part of a service worker's scope that is used here. */
export interface NoticeScope {
  registration: ServiceWorkerRegistration;
  clients: {
    matchAll(options: object): Promise<Page[]>;
    openWindow(url: string): Promise<unknown>;
  };
}

interface Page {
  url: string;
  focus(): Promise<unknown>;
}

export interface ClickEvent {
  action: string;
  /** What a person typed into the notification. */
  reply?: string | null;
  notification: Notification;
}

/** What the page and this worker share; `src/api/notices.ts` has the same names. */
const CACHE = "scorel-notices";
const CHANNEL = "scorel.notices";
/** How long to wait for an open page, in milliseconds. Browsers soon forbid opening one. */
const PATIENCE = 700;

/** Reads the content of a push message. One that this version does not know still shows that a session needs someone. */
export function pushedOf(data: { json(): unknown } | null): Pushed {
  try {
    return { ...unknown(), ...(data?.json() as Pushed) };
  } catch {
    return unknown();
  }
}

function unknown(): Pushed {
  return { kind: "other", device: "", tag: "other" };
}

/** Returns the words of the notification in the language of the page, which stores them. */
async function words(): Promise<Record<string, string>> {
  const stored = await caches.open(CACHE).then(
    (cache) => cache.match("/words"),
    () => undefined,
  );
  return stored ? stored.json() : {};
}

/** Returns the machine that a registration belongs to; null for that of the page's files. */
function machineOf({ scope }: ServiceWorkerRegistration): string | null {
  return /^\/push\/([^/]+)\/$/.exec(new URL(scope).pathname)?.[1] ?? null;
}

/**
 * Shows a notification in place of the earlier one about the same session. Messages that come at the same time are shown
 * one after another: when a worker asks for its notifications, Chromium deletes one that it has stored but does not show
 * yet, as if it were an old one.
 */
export function show({ registration }: NoticeScope, pushed: Pushed): Promise<void> {
  const machine = machineOf(registration);
  // A machine speaks for itself only: an answer to it must not reach a session of another one.
  const own = machine === null || pushed.device === machine ? pushed : { ...unknown(), device: machine };
  return navigator.locks.request(`scorel.notices ${registration.scope}`, () => put(registration, own));
}

async function put(registration: ServiceWorkerRegistration, pushed: Pushed): Promise<void> {
  const word = await words();
  // A reduced notification has no title, and says no more than that a session needs someone.
  const what = pushed.gone ? word.gone : (pushed.title && word[pushed.kind]) || word.other;
  const line = pushed.count && pushed.count > 1 ? `${what} (${pushed.count})` : (what ?? "");
  const tag = `${pushed.device} ${pushed.tag}`;
  const silent = Boolean(pushed.quiet || pushed.gone);
  await registration.showNotification(pushed.title || "scorel", {
    body: pushed.text ? `${line}\n${pushed.text}` : line,
    tag,
    icon: "/icon-192.png",
    data: pushed,
    renotify: !silent,
    silent,
    actions: (pushed.actions ?? []).map((action) => ({
      action,
      title: word[action] ?? action,
      ...(action === "reply" ? { type: "text" } : {}),
    })),
  } as NotificationOptions);
  if (pushed.gone) {
    // Browsers require that each message shows something: it replaces the withdrawn notification and is closed.
    for (const shown of await registration.getNotifications({ tag })) {
      shown.close();
    }
  }
}

/** Handles a click on a notification or on one of its buttons. */
export async function clicked(scope: NoticeScope, { action, reply, notification }: ClickEvent): Promise<void> {
  const pushed = notification.data as Pushed;
  notification.close();
  const answer = answerOf(pushed, action, reply?.trim() ?? "");
  if (answer) {
    const cache = await caches.open(CACHE);
    await cache.put(`/answers/${answer.id}`, new Response(JSON.stringify(answer)));
    if (await isTaken(answer.id)) {
      return;
    }
  }
  await open(scope, pushed);
}

/** Returns the answer that a click gives; null if it only opens the session. */
function answerOf(pushed: Pushed, action: string, reply: string): NoticeAnswer | null {
  const { device, session, asks = session, approval, shown, question } = pushed;
  if (!session || !asks) {
    return null;
  }
  const base = { id: crypto.randomUUID(), at: Date.now(), device, session, asks };
  if (approval && action === "deny") {
    return { ...base, approval, shown, decision: "deny" };
  }
  if (approval && shown && action === "allow") {
    return { ...base, approval, shown, decision: "allow" };
  }
  return action === "reply" && reply ? { ...base, question, reply } : null;
}

/** Offers an answer to the open pages. Resolves with whether one sends it. */
function isTaken(id: string): Promise<boolean> {
  return new Promise((resolve) => {
    const pages = new BroadcastChannel(CHANNEL);
    const end = (taken: boolean) => {
      clearTimeout(timer);
      pages.close();
      resolve(taken);
    };
    const timer = setTimeout(() => end(false), PATIENCE);
    pages.onmessage = ({ data }: MessageEvent<{ taken?: string }>) => data.taken === id && end(true);
    pages.postMessage({ stored: id });
  });
}

/** Opens the session of a notification, in the page that shows it if there is one. */
async function open({ clients }: NoticeScope, { device, session }: Pushed): Promise<void> {
  const root = device ? `/d/${encodeURIComponent(device)}` : "/";
  const path = device && session ? `${root}/s/${encodeURIComponent(session)}` : root;
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const found = pages.find(({ url }) => new URL(url).pathname === path);
  await (found ? found.focus().catch(() => {}) : clients.openWindow(path));
}
