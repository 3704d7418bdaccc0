import type { PageDrafts } from "../../api/contract";
import { WindowDrafts } from "../../api/window-drafts";
import { useScorel } from "./scorel-context";

/** Returns the drafts of this page. The first part of the page that needs them starts them, for as long as it is open. */
export function useDrafts(): PageDrafts {
  const { drafts } = useScorel();
  drafts.current ??= started();
  return drafts.current;
}

function started(): PageDrafts {
  const drafts = new WindowDrafts();
  drafts.listenToWindow();
  return drafts;
}
