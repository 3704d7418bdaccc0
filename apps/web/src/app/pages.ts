import type { ComponentType } from "react";
import { parse } from "regexparam";
import { matchRoute } from "wouter";
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

const connection: Page = {
  path: paths.connection,
  code: late(async () => (await import("../features/connection/ConnectionPage")).ConnectionPage),
};

const pages: readonly Page[] = [
  { path: paths.inbox, code: late(async () => (await import("../features/inbox/InboxPage")).InboxPage) },
  { path: paths.pair, code: late(async () => (await import("../features/pair/PairPage")).PairPage) },
  connection,
  { path: paths.share, code: late(async () => (await import("../features/share/SharePage")).SharePage) },
  { path: paths.machine, code: late(async () => (await import("../features/device/DevicePage")).DevicePage) },
  { path: paths.newSession, code: late(async () => (await import("../features/start/StartPage")).StartPage) },
  {
    path: paths.session,
    code: late(async () => {
      lateReader.load().catch(() => {}); // the components that show Markdown retry
      return (await import("../features/chat/ChatPage")).ChatPage;
    }),
  },
  { path: paths.terminals, code: late(async () => (await import("../features/terminal/TerminalPage")).TerminalPage) },
];

const notFound: Page = { path: "*", code: { now: () => NotFound, load: async () => NotFound } };

/** Returns the page at a path. */
export function pageAt(path: string): Page {
  return pages.find((page) => matchRoute(parse, page.path, path)[0]) ?? notFound;
}

/** Loads the code of the page at a path, so that it opens sooner. */
export async function loadPage(path: string): Promise<void> {
  await pageAt(path).code.load();
}

/** Loads the page that people need when the page's server cannot be reached. */
export function loadForTrouble(): void {
  connection.code.load().catch(() => {}); // opening the page retries and shows the error
}
