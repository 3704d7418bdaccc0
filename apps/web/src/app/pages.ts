import type { ComponentType } from "react";
import { parse } from "regexparam";
import { lateReader } from "../features/chat/text/late-reader";
import { paths } from "../features/route/address";
import { type Late, late } from "../features/shared/late";
import { NotFound } from "./NotFound";

/** A page, whose code is loaded when it is opened. */
export interface Page {
  /** The pattern of its path. */
  path: string;
  code: Late<ComponentType>;
}

const page = (path: string, fetch: () => Promise<ComponentType>) => ({
  path,
  pattern: parse(path).pattern,
  code: late(fetch),
});

const connection = page(
  paths.connection,
  async () => (await import("../features/connection/ConnectionPage")).ConnectionPage,
);

const pages = [
  page(paths.inbox, async () => (await import("../features/inbox/InboxPage")).InboxPage),
  page(paths.pair, async () => (await import("../features/pair/PairPage")).PairPage),
  connection,
  page(paths.share, async () => (await import("../features/share/SharePage")).SharePage),
  page(paths.machine, async () => (await import("../features/device/DevicePage")).DevicePage),
  page(paths.newSession, async () => (await import("../features/start/StartPage")).StartPage),
  page(paths.session, async () => {
    lateReader.load().catch(() => {}); // the components that show Markdown retry
    return (await import("../features/chat/ChatPage")).ChatPage;
  }),
  page(paths.terminals, async () => (await import("../features/terminal/TerminalPage")).TerminalPage),
];

const notFound: Page = { path: "*", code: { now: () => NotFound, load: async () => NotFound } };

/** Returns the page at a path. */
export function pageAt(path: string): Page {
  return pages.find(({ pattern }) => pattern.test(path)) ?? notFound;
}

/** Loads the code of the page at a path, so that it opens sooner. */
export async function loadPage(path: string): Promise<void> {
  await pageAt(path).code.load();
}

/** Loads the page that people need when the page's server cannot be reached. */
export function loadForTrouble(): void {
  connection.code.load().catch(() => {}); // opening the page retries and shows the error
}
