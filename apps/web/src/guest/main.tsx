// The page of a guest link. It is a separate document: neither the app nor its workers are started, and nothing is
// stored in this browser.

import type { ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { ToastProvider } from "../components/Toast";
import { chosenTheme, showTheme } from "../features/settings/theme";
import { t } from "../i18n/guest";
import { translation } from "../i18n/i18n";
import { speakChosen } from "../i18n/language";
import { GuestEnd, GuestPage, words } from "./GuestPage";
import { type GuestPort, GuestSession } from "./guest-session";
import type { FromGuest } from "./messages";
import "../app/styles.css";

/** Shows the state that the worker reports for the link. */
function follow(port: GuestPort, show: (content: ReactNode) => void): void {
  let guest: GuestSession | null = null;
  port.onmessage = ({ data }: MessageEvent<FromGuest>) => {
    if (data.t === "no") {
      show(<GuestEnd {...words(data.why)} />);
    } else if (data.t === "link") {
      guest = new GuestSession(data.link, port);
      show(<GuestPage guest={guest} />);
    } else {
      guest?.take(data);
    }
  };
}

async function start(): Promise<void> {
  showTheme(chosenTheme());
  await speakChosen();
  const element = document.getElementById("root");
  if (!element) {
    throw new Error("g.html has no #root");
  }
  const root = createRoot(element);
  const show = (content: ReactNode) => root.render(<ToastProvider>{content}</ToastProvider>);
  if (!isSecureContext || !crypto.subtle) {
    return show(<GuestEnd {...words("noKeys")} />);
  }
  const worker = new Worker(new URL("./guest-worker.ts", import.meta.url), { type: "module" });
  follow(worker, show);
  const fragment = location.hash.replace(/^#/, "").trim();
  const { origin } = location;
  worker.postMessage({ t: "start", fragment, origin, label: t("guest.page.label"), translation: translation() });
}

// Another link in the same tab changes only the fragment.
window.addEventListener("hashchange", () => location.reload());
void start();
