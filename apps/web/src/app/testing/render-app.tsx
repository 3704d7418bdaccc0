import { render } from "@testing-library/react";
import { adoptEntry } from "../../features/route/history";
import { App } from "../App";
import "../Sidebar";
// The pages that are loaded on demand, loaded before a test's fake clock runs.
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
  history.pushState(null, "", path);
  adoptEntry();
  return render(<App scorel={scorel} linkCode={{ current: linkCode }} />);
}
