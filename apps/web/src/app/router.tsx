import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouterHistory,
} from "@tanstack/react-router";
import { ConnectionPage } from "../features/connection/ConnectionPage";
import { DevicesPage } from "../features/devices/DevicesPage";
import { type LinkCode, PairPage } from "../features/pair/PairPage";
import { NotFound } from "./NotFound";
import { PageFault } from "./PageFault";
import { Shell } from "./Shell";

interface RouterContext {
  linkCode: LinkCode;
}

const root = createRootRouteWithContext<RouterContext>()({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: PageFault,
});

const home = createRoute({ getParentRoute: () => root, path: "/", component: DevicesPage });

const pair = createRoute({
  getParentRoute: () => root,
  path: "/pair",
  component: function Pair() {
    const { linkCode } = pair.useRouteContext();
    return <PairPage linkCode={linkCode} />;
  },
});

// Not a chunk of its own: it is wanted when the server that would send it is away.
const connection = createRoute({ getParentRoute: () => root, path: "/connection", component: ConnectionPage });

const device = createRoute({
  getParentRoute: () => root,
  path: "/d/$deviceId",
  component: lazyRouteComponent(() => import("../features/device/DevicePage"), "DevicePage"),
});

const session = createRoute({
  getParentRoute: () => root,
  path: "/d/$deviceId/s/$sessionId",
  // The entry that a search found.
  validateSearch: (search: Record<string, unknown>): { entry?: string } =>
    typeof search.entry === "string" ? { entry: search.entry } : {},
  component: lazyRouteComponent(() => import("../features/chat/ChatPage"), "ChatPage"),
});

/** The pages and their addresses. `linkCode` is what a pairing link carried. */
export function createAppRouter(linkCode: LinkCode, history?: RouterHistory) {
  return createRouter({
    routeTree: root.addChildren([home, pair, connection, device, session]),
    context: { linkCode },
    defaultPreload: "intent",
    ...(history ? { history } : {}),
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
