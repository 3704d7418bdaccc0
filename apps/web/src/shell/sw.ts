// The service worker. It caches the page's own files, so that the page opens at once and without its server. Of what
// hosts send, it sees notifications only. It stores no personal data but answers to these, until a page sends them.
//
// Each machine that notifies this browser has its own registration of this worker, which caches no files.
//
// A version is the set of files of one build. It is stored completely before it is used. A page is always served from
// one version: the running one, until a person chooses the new one or closes all pages.

import { type ClickEvent, clicked, type NoticeScope, pushedOf, show } from "./notices";

/** The parts of a service worker's scope that are used: the full types would replace those of a page. */
interface Scope extends NoticeScope {
  location: Location;
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: Extendable) => void): void;
  addEventListener(type: "message", listener: (event: MessageEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
  addEventListener(type: "push", listener: (event: PushEvent) => void): void;
  addEventListener(type: "notificationclick", listener: (event: ClickEvent & Extendable) => void): void;
}

interface Extendable {
  waitUntil(done: Promise<unknown>): void;
}

interface PushEvent extends Extendable {
  data: { json(): unknown } | null;
}

interface FetchEvent {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}

/** Set by the build: the version, and the paths of its files. */
declare const __SHELL__: { version: string; files: string[] };

const scope = globalThis as unknown as Scope;
const shell = __SHELL__;
const prefix = "scorel-shell-";
const cacheName = prefix + shell.version;
const page = "/";
/** The same page, with the names of the files that a session needs. */
const sessionPage = "/session.html";
const ofSession = /^\/d\/[^/]+\/s\/[^/]+$/;

/** Paths that look like the page's but belong to the server, and the documents that are separate ones. */
const ofServer = /^\/(v1\/|docs(\/|$)|g$|healthz$|readyz$|metrics$)/;

async function install(): Promise<void> {
  const cache = await caches.open(cacheName);
  // Bypasses the browser's HTTP cache, except for files whose names contain their hash.
  const request = (path: string) => new Request(path, { cache: path.startsWith("/assets/") ? "default" : "reload" });
  await cache.addAll(shell.files.map(request));
}

async function activate(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(prefix) && name !== cacheName);
  await Promise.all(old.map((name) => caches.delete(name)));
}

async function fromShell(request: Request, path: string): Promise<Response> {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(path);
  if (kept) {
    return kept;
  }
  const answer = await fetch(request);
  if (answer.ok && path.startsWith("/assets/")) {
    // Grammars and other files that are cached after their first use.
    await cache.put(path, answer.clone()).catch(() => {});
  }
  return answer;
}

/** Whether this worker is the one that keeps the page's files, and not one for the notifications of a machine. */
const keepsFiles = () => new URL(scope.registration.scope).pathname === "/";

scope.addEventListener("install", (event) => event.waitUntil(keepsFiles() ? install() : scope.skipWaiting()));
scope.addEventListener("activate", (event) => event.waitUntil(keepsFiles() ? activate() : Promise.resolve()));
scope.addEventListener("push", (event) => event.waitUntil(show(scope, pushedOf(event.data))));
scope.addEventListener("notificationclick", (event) => event.waitUntil(clicked(scope, event)));

scope.addEventListener("message", (event) => {
  if (event.data === "activate") {
    void scope.skipWaiting();
  }
});

scope.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== scope.location.origin) {
    return;
  }
  if (request.mode === "navigate") {
    if (!ofServer.test(pathname) && !/\.[^/]*$/.test(pathname)) {
      event.respondWith(fromShell(request, ofSession.test(pathname) ? sessionPage : page));
    }
  } else if (pathname.startsWith("/assets/") || (pathname !== page && shell.files.includes(pathname))) {
    event.respondWith(fromShell(request, pathname));
  }
});
