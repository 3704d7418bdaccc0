// The app on made-up data, for viewing: `npm run dev`, then open /dev/?scene=chat. It is not part of the build.
import { createMemoryHistory } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { App } from "../src/app/App";
import { createAppRouter } from "../src/app/router";
import "../src/app/styles.css";
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
const router = createAppRouter({ current: null }, createMemoryHistory({ initialEntries: [path] }));
createRoot(root).render(<App scorel={scorel} router={router} {...(shell ? { shell } : {})} />);
