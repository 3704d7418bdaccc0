import { createRoot } from "react-dom/client";
import { createScorel } from "../api/scorel";
import { takeFragment } from "../features/pair/fragment";
import { followTheme } from "../features/settings/theme";
import { whenIdle } from "../features/shared/when-idle";
import { speakChosen } from "../i18n/language";
import { App } from "./App";
import { createAppRouter, loadForTrouble } from "./router";
import "./styles.css";

// The secret of a pairing link leaves the address before anything else runs.
const linkCode = { current: takeFragment(window) };

followTheme();

const root = document.getElementById("root");
if (!root) {
  throw new Error("index.html has no #root");
}
// The development server has no service worker.
const shell = import.meta.env.PROD ? ({ shell: "page" } as const) : {};

void speakChosen().then(() => {
  createRoot(root).render(<App scorel={createScorel()} router={createAppRouter(linkCode)} {...shell} />);
  // Behind everything that the first page needs.
  whenIdle(loadForTrouble);
});
