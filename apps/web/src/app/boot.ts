// The first code of every page, and the smallest. It begins what takes time without the page's code, which is still on
// its way: the worker starts and connects.
import { beginWorker } from "../api/begin";
import { takeFragment } from "../features/pair/fragment";

// The page of guest links shares files with the app, this one too, and must not start it.
if (location.pathname !== "/g") {
  // The secret of a pairing link leaves the address before anything else runs.
  const linkCode = { current: takeFragment(window) };

  const connect = beginWorker();

  void import("./main").then(({ start }) => start(linkCode, connect));
}
