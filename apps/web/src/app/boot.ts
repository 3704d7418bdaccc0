// The first and smallest script of every page. It begins the slow work while the page's code is still loading: the
// worker starts and connects.
import { beginWorker } from "../api/begin";
import { takeFragment } from "../features/pair/fragment";
import { startInTurn } from "./turn";

// The page of guest links shares files with the app, including this one, and must not start it.
if (location.pathname !== "/g") {
  // The secret of a pairing link is removed from the address before anything else runs.
  const linkCode = { current: takeFragment(window) };

  const connect = beginWorker();

  void startInTurn(async () => (await import("./main")).start(linkCode, connect));
}
