// Notifications of this browser: its subscriptions to hosts, and the answers that people give in notifications. The
// service worker stores an answer, and a page takes it.
import type { Decision } from "./types";

/** The content of a push message, as the host encrypts it. */
export interface Pushed {
  kind: string;
  device: string;
  /** A later message with the same tag replaces this one. */
  tag: string;
  /** The session that a person has to look at. */
  session?: string;
  /** The session that asks, which may be that of a subagent. */
  asks?: string;
  title?: string;
  text?: string;
  /** How many things wait, if more than one. */
  count?: number;
  approval?: string;
  /** The hash of what the approval allows. */
  shown?: string;
  question?: string;
  actions?: string[];
  /** Nothing waits any more. */
  gone?: boolean;
  quiet?: boolean;
}

/** What a person answered in a notification. */
export interface NoticeAnswer {
  id: string;
  at: number;
  device: string;
  session: string;
  asks: string;
  approval?: string | undefined;
  shown?: string | undefined;
  decision?: Decision & ("allow" | "deny");
  question?: string | undefined;
  reply?: string;
}

const CACHE = "scorel-notices";
const CHANNEL = "scorel.notices";

/** Each machine has its own key, and a registration of the service worker has one subscription: each has its own. */
export function scopeOf(deviceId: string): string {
  return `/push/${deviceId}/`;
}

/** Stores the words of notifications in the language of the page. */
export async function keepWords(words: Record<string, string>): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.put("/words", new Response(JSON.stringify(words)));
}

/**
 * Calls `send` once with each stored answer, whatever number of pages is open: at once, and whenever a notification is
 * answered. Returns a function that ends this.
 */
export function takeAnswers(send: (answer: NoticeAnswer) => Promise<void>): () => void {
  if (!globalThis.caches || !globalThis.navigator?.locks) {
    return () => {}; // not a secure context: there are no notifications
  }
  const channel = new BroadcastChannel(CHANNEL);
  const take = () => void navigator.locks.request(CHANNEL, () => takeAll(channel, send)).catch(() => {});
  channel.onmessage = ({ data }: MessageEvent<{ stored?: string }>) => data.stored && take();
  take();
  return () => channel.close();
}

async function takeAll(channel: BroadcastChannel, send: (answer: NoticeAnswer) => Promise<void>): Promise<void> {
  if (!(await caches.has(CACHE))) {
    return;
  }
  const cache = await caches.open(CACHE);
  for (const request of await cache.keys()) {
    if (!new URL(request.url).pathname.startsWith("/answers/")) {
      continue;
    }
    const answer: NoticeAnswer | undefined = await (await cache.match(request))?.json();
    if (answer) {
      channel.postMessage({ taken: answer.id });
      await send(answer);
    }
    await cache.delete(request);
  }
}

/** Why this browser cannot show notifications; null if it can. */
export type NoSupport = "insecure" | "install" | "unsupported" | "denied";

export function noSupport(): NoSupport | null {
  if (!globalThis.isSecureContext) {
    return "insecure";
  }
  if (!navigator.serviceWorker || !("PushManager" in globalThis) || !("Notification" in globalThis)) {
    return /iPhone|iPad/.test(navigator.userAgent) ? "install" : "unsupported";
  }
  return Notification.permission === "denied" ? "denied" : null;
}

/** What a host needs to notify this browser. */
export interface Subscribed {
  url: string;
  p256dh: string;
  auth: string;
}

/** Returns the subscription of this browser to a host; null without one. */
export async function subscriptionTo(deviceId: string): Promise<PushSubscription | null> {
  const registration = await ownRegistration(deviceId);
  return (await registration?.pushManager.getSubscription()) ?? null;
}

async function ownRegistration(deviceId: string): Promise<ServiceWorkerRegistration | undefined> {
  const found = await navigator.serviceWorker?.getRegistration(scopeOf(deviceId));
  return found && new URL(found.scope).pathname === scopeOf(deviceId) ? found : undefined;
}

/** Subscribes this browser to a host with the host's key, in place of an earlier subscription. */
export async function subscribe(deviceId: string, key: string): Promise<Subscribed> {
  const registration = await navigator.serviceWorker.register("/sw.js", { scope: scopeOf(deviceId) });
  await activated(registration);
  await (await registration.pushManager.getSubscription())?.unsubscribe(); // the host may have another key now
  const { endpoint, keys } = (
    await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })
  ).toJSON();
  return { url: endpoint ?? "", p256dh: keys?.p256dh ?? "", auth: keys?.auth ?? "" };
}

function activated(registration: ServiceWorkerRegistration): Promise<void> {
  const worker = registration.installing ?? registration.waiting;
  if (registration.active || !worker) {
    return Promise.resolve();
  }
  return new Promise((resolve, reject) => {
    worker.addEventListener("statechange", () => {
      if (worker.state === "activated") {
        resolve();
      } else if (worker.state === "redundant") {
        reject(new Error()); // the browser says no more
      }
    });
  });
}

/** Ends the subscription of this browser to a host. */
export async function unsubscribe(deviceId: string): Promise<void> {
  const registration = await ownRegistration(deviceId);
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  await registration?.unregister();
}
