// The app on made-up data, for viewing: `npm run dev`, then open /dev/?scene=chat. It is not part of the build.
import { createRoot } from "react-dom/client";
import { App } from "../src/app/App";
import "../src/app/styles.css";
import { adoptEntry } from "../src/features/route/history";
import { speakChosen } from "../src/i18n/language";
import { scenes } from "./scenes";

const name = new URLSearchParams(location.search).get("scene") ?? "chat";
const scene = scenes[name] ?? scenes.chat;
const root = document.getElementById("root");
if (!root || !scene) {
  throw new Error("nothing to show");
}
await speakChosen();
const { scorel, path, shell } = scene();
const address = new URL(path, location.href);
address.searchParams.set("scene", name); // for a reload, see vite.config.ts
history.replaceState(null, "", address);
adoptEntry();
createRoot(root).render(<App scorel={scorel} linkCode={{ current: null }} {...(shell ? { shell } : {})} />);
