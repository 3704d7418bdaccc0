// Executes the messages of a page to its worker.
import { failureOf, type ToLink } from "../api/messages";
import { endings, follow, type HostRequest } from "./following";
import type { Parts } from "./open";
import type { ServedPage } from "./served-page";

type Pages = ReadonlyMap<number, ServedPage>;

/** Returns the worker's number of a page's pairing or diagnosis. */
function runOf(page: ServedPage, id: number): number {
  return page.number * 2 ** 32 + id;
}

/** Returns the page number of a pairing or diagnosis, and its id there. */
export function ownerOf(run: number): [page: number, id: number] {
  return [Math.floor(run / 2 ** 32), run % 2 ** 32];
}

export function serve(parts: Parts, pages: Pages, page: ServedPage, message: ToLink): void {
  const { link, outbox, saving } = parts;
  const answer = (id: number, result: Promise<unknown>): void => {
    result.then(
      (value) => page.post({ t: "answer", id, result: value }),
      (err: unknown) => page.post({ t: "failure", id, failure: failureOf(err) }),
    );
  };
  switch (message.t) {
    case "relay":
      link.setRelay(message.relayUrl);
      return;
    case "invite":
      link.setInvite(message.invite);
      return;
    case "label":
      link.setLabel(message.label);
      return;
    case "wake":
      link.wake(message.force);
      return;
    case "visible":
      page.visible = message.visible;
      look(parts, pages);
      return;
    case "use":
      page.devices.add(message.deviceId);
      link.use(message.deviceId);
      look(parts, pages);
      return;
    case "request":
      answer(message.id, ask(parts, pages, page, message));
      return;
    case "recall":
      answer(message.id, saving.recall(message.deviceId, message.what));
      return;
    case "put":
      answer(message.id, outbox.add(message.item));
      return;
    case "retry":
      void outbox.retry(message.clientKey);
      return;
    case "discard":
      void outbox.discard(message.clientKey);
      return;
    case "forget":
      answer(message.id, link.forget(message.deviceId));
      return;
    default:
      run(parts, page, message);
  }
}

/** Ends everything that only a closed page used. */
export function leave(parts: Parts, pages: Pages, page: ServedPage): void {
  for (const request of endings(page)) {
    // Without a channel there is nothing to end.
    if (follow(pages.values(), page, request) && parts.link.isOpen(request.deviceId)) {
      void send(parts, request).catch(() => {});
    }
  }
  for (const id of page.runs) {
    parts.link.cancelPairing(id);
    parts.link.cancelDiagnosis(id);
  }
  look(parts, pages);
}

/** Applies a change of a page's visibility or shown devices. */
export function look({ link, saving }: Parts, pages: Pages): void {
  const inSight = [...pages.values()].filter(({ visible }) => visible);
  link.setVisible(inSight.length > 0, new Set(inSight.flatMap(({ devices }) => [...devices])));
  saving.flush(); // the page may be closed soon, and this worker with it
}

async function ask(parts: Parts, pages: Pages, page: ServedPage, message: ToLink & { t: "request" }): Promise<unknown> {
  return follow(pages.values(), page, message) ? send(parts, message) : {};
}

function send({ link, saving }: Parts, request: HostRequest & Partial<ToLink & { t: "request" }>): Promise<unknown> {
  const { deviceId, name, fields, approval } = request;
  return saving.through(deviceId, name, fields, link.request(deviceId, name, fields, approval));
}

function run({ link }: Parts, page: ServedPage, message: ToLink): void {
  if (!("id" in message)) {
    return;
  }
  const id = runOf(page, message.id);
  page.runs.add(id);
  switch (message.t) {
    case "pair":
      link.pair(id, message.code);
      return;
    case "cancel_pair":
      link.cancelPairing(id);
      return;
    case "diagnose":
      void link.diagnose(id);
      return;
    case "cancel_diagnosis":
      link.cancelDiagnosis(id);
  }
}
