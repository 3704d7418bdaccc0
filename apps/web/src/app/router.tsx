import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouterHistory,
} from "@tanstack/react-router";
import { lateReader } from "../features/chat/text/late-reader";
import { type Filter, states } from "../features/inbox/filter";
import type { LinkCode } from "../features/pair/PairPage";
import { chunk } from "../features/shared/missing-chunk";
import { NotFound } from "./NotFound";
import { PageFault } from "./PageFault";
import { PageFrame } from "./PageFrame";
import { Shell } from "./Shell";

interface RouterContext {
  linkCode: LinkCode;
}

const root = createRootRouteWithContext<RouterContext>()({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: PageFault,
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  // The filter of the inbox.
  validateSearch: ({ machine, project, state }: Record<string, unknown>): Filter => {
    const known = states.find((each) => each === state);
    return {
      ...(typeof machine === "string" ? { machine } : {}),
      ...(typeof project === "string" ? { project } : {}),
      ...(known ? { state: known } : {}),
    };
  },
  component: lazyRouteComponent(
    chunk(() => import("../features/inbox/InboxPage")),
    "InboxPage",
  ),
});

const pair = createRoute({
  getParentRoute: () => root,
  path: "/pair",
  component: lazyRouteComponent(
    chunk(() => import("../features/pair/PairPage")),
    "PairPage",
  ),
});

const loadConnection = chunk(() => import("../features/connection/ConnectionPage"));

const connection = createRoute({
  getParentRoute: () => root,
  path: "/connection",
  component: lazyRouteComponent(loadConnection, "ConnectionPage"),
});

/** Loads the page that people need when the page's server cannot be reached. */
export function loadForTrouble(): void {
  loadConnection().catch(() => {}); // the route itself retries and shows the error
}

const text = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) : "");

const share = createRoute({
  getParentRoute: () => root,
  path: "/share",
  // Content shared by another app, see public/manifest.webmanifest.
  validateSearch: (search: Record<string, unknown>): { title?: string; text?: string; url?: string } => ({
    title: text(search.title),
    text: text(search.text),
    url: text(search.url),
  }),
  component: lazyRouteComponent(
    chunk(() => import("../features/share/SharePage")),
    "SharePage",
  ),
});

const device = createRoute({
  getParentRoute: () => root,
  path: "/d/$deviceId",
  // Whether to show the archived sessions instead of the others, and the project whose sessions are all listed.
  validateSearch: ({ archived, project }: Record<string, unknown>): { archived?: boolean; project?: string } => ({
    ...(archived === true ? { archived } : {}),
    ...(typeof project === "string" ? { project } : {}),
  }),
  component: lazyRouteComponent(
    chunk(() => import("../features/device/DevicePage")),
    "DevicePage",
  ),
});

const start = createRoute({
  getParentRoute: () => root,
  path: "/d/$deviceId/new",
  validateSearch: ({ project, agent }: Record<string, unknown>): { project: string; agent?: string } => ({
    project: typeof project === "string" ? project : "",
    ...(typeof agent === "string" ? { agent } : {}),
  }),
  component: lazyRouteComponent(
    chunk(() => import("../features/start/StartPage")),
    "StartPage",
  ),
});

const session = createRoute({
  getParentRoute: () => root,
  path: "/d/$deviceId/s/$sessionId",
  // The entry that a search found.
  validateSearch: (search: Record<string, unknown>): { entry?: string } =>
    typeof search.entry === "string" ? { entry: search.entry } : {},
  component: lazyRouteComponent(
    chunk(() => {
      lateReader.load().catch(() => {}); // the components that show Markdown retry
      return import("../features/chat/ChatPage");
    }),
    "ChatPage",
  ),
});

const terminal = createRoute({
  getParentRoute: () => root,
  path: "/d/$deviceId/terminal",
  // The project whose folder a shell starts in, or the session whose worktree.
  validateSearch: ({ project, session }: Record<string, unknown>): { project?: string; session?: string } => ({
    ...(typeof project === "string" ? { project } : {}),
    ...(typeof session === "string" ? { session } : {}),
  }),
  component: lazyRouteComponent(
    chunk(() => import("../features/terminal/TerminalPage")),
    "TerminalPage",
  ),
});

/** Creates the router with the pages and their addresses. `linkCode` is the code of a pairing link. */
export function createAppRouter(linkCode: LinkCode, history?: RouterHistory) {
  return createRouter({
    routeTree: root.addChildren([home, pair, connection, share, device, start, session, terminal]),
    context: { linkCode },
    defaultPreload: "intent",
    // The frame of a page is shown while its code loads, unless that is immediate.
    defaultPendingComponent: PageFrame,
    defaultPendingMs: 100,
    defaultPendingMinMs: 0,
    ...(history ? { history } : {}),
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
  interface HistoryState {
    /** The text searched for. It is not in the address, which the page's server sees. */
    find?: string;
  }
}
