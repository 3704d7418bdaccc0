import { startTransition } from "react";
import { createRoot } from "react-dom/client";
import type { Connect } from "../api/begin";
import { createScorel } from "../api/scorel";
import { lateReader } from "../features/chat/text/late-reader";
import type { LinkCode } from "../features/pair/link-code";
import { adoptEntry } from "../features/route/history";
import { followTheme } from "../features/settings/theme";
import { whenIdle } from "../features/shared/when-idle";
import { speakChosen } from "../i18n/language";
import { App } from "./App";
import { openFirst } from "./first-session";
import { loadAhead } from "./load-ahead";
import { loadForTrouble, loadPage } from "./pages";
import "./styles.css";

/**
 * Loads the Markdown parser if the page's own files are cached in the browser. Over a network, the rows are loaded
 * first.
 */
async function readerIfKept(): Promise<void> {
  if (navigator.serviceWorker?.controller) {
    await lateReader.load();
  }
}

/**
 * Shows the page. The promise resolves when it is shown. `linkCode` is the code of a pairing link, `connect` connects
 * the page to its worker.
 */
export async function start(linkCode: LinkCode, connect: Connect): Promise<void> {
  followTheme();
  const root = document.getElementById("root");
  if (!root) {
    throw new Error("index.html has no #root");
  }
  // The development server has no service worker.
  const shell = import.meta.env.PROD ? ({ shell: "page" } as const) : {};
  await speakChosen();
  const scorel = createScorel(connect);
  adoptEntry();
  loadAhead();
  await openFirst(scorel, location.pathname, () => Promise.all([loadPage(location.pathname), readerIfKept()]));
  // In slices, so that the browser stays responsive.
  await new Promise<void>((onShown) =>
    startTransition(() => createRoot(root).render(<App {...{ scorel, linkCode, onShown, ...shell }} />)),
  );
  // After everything that the first page needs.
  whenIdle(loadForTrouble);
}
