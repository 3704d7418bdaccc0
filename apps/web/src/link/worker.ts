// The entry of the worker: keys, socket and seal live here, away from the work of the pages. One worker serves all pages
// of a browser where it has shared workers, and a single page where it does not.
import type { LinkPort } from "../api/messages";
import { Service } from "./service";

const scope = self as unknown as LinkPort & {
  onconnect?: ((event: MessageEvent) => void) | null;
};

if ("onconnect" in scope) {
  const service = new Service({ shared: true });
  scope.onconnect = ({ ports }) => service.connect(ports[0] as unknown as LinkPort);
  // Pages are told the errors of their own worker by the browser, and not those of one that they share.
  addEventListener("error", ({ message }) => service.fault(message));
  addEventListener("unhandledrejection", ({ reason }) => service.fault(String(reason)));
} else {
  new Service().connect(scope);
}
