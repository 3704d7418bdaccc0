import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouterHistory,
} from "@tanstack/react-router";
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

const device = createRoute({
  getParentRoute: () => root,
  path: "/d/$deviceId",
  component: lazyRouteComponent(() => import("../features/device/DevicePage"), "DevicePage"),
});

const session = createRoute({
  getParentRoute: () => root,
  path: "/d/$deviceId/s/$sessionId",
  component: lazyRouteComponent(() => import("../features/chat/ChatPage"), "ChatPage"),
});

/** The pages and their addresses. `linkCode` is what a pairing link carried. */
export function createAppRouter(linkCode: LinkCode, history?: RouterHistory) {
  return createRouter({
    routeTree: root.addChildren([home, pair, device, session]),
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
