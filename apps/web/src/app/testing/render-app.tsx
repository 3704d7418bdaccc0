import { createMemoryHistory } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import { App } from "../App";
import { createAppRouter } from "../router";
import "../Sidebar";
// The pages that the router loads on demand, loaded before a test's fake clock runs.
import "../../features/chat/ChatPage";
import "../../features/connection/ConnectionPage";
import "../../features/device/DevicePage";
import "../../features/device/SidebarSessions";
import "../../features/inbox/InboxPage";
import "../../features/inbox/InboxWatch";
import "../../features/keys/GlobalKeys";
import "../../features/keys/Palette";
import "../../features/keys/Shortcuts";
import "../../features/pair/PairPage";
import "../../features/settings/SettingsSheet";
import "../../features/share/SharePage";
import "../../features/start/StartPage";
import "./browser";
import type { FakeScorel } from "./fake-scorel";

/** Renders the whole app at an address, on a fake Scorel. */
export function renderApp(scorel: FakeScorel, path: string, linkCode: string | null = null) {
  const router = createAppRouter({ current: linkCode }, createMemoryHistory({ initialEntries: [path] }));
  return { router, ...render(<App scorel={scorel} router={router} />) };
}
