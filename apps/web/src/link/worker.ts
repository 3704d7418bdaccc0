// The entry point of the worker: keys, socket and seal live here, apart from the work of the pages. One worker serves
// all pages of a browser with shared workers, and a single page otherwise.
import type { LinkPort } from "../api/messages";
import { Service } from "./service";

const scope = self as unknown as LinkPort & {
  onconnect?: ((event: MessageEvent) => void) | null;
};

if ("onconnect" in scope) {
  const service = new Service({ shared: true });
  scope.onconnect = ({ ports }) => service.connect(ports[0] as unknown as LinkPort);
  // The browser reports errors of a dedicated worker to its page, but not those of a shared one.
  addEventListener("error", ({ message }) => service.fault(message));
  addEventListener("unhandledrejection", ({ reason }) => service.fault(String(reason)));
} else {
  new Service().connect(scope);
}
