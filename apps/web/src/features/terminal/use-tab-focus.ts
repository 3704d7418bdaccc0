import { type RefObject, useEffect, useRef, useState } from "react";

export interface TabFocus {
  /** The list of tabs. */
  tabs: RefObject<HTMLDivElement | null>;
  /** Whether the tabs are used by keyboard, so that the focus stays in them. */
  byKeys: boolean;
  setByKeys: (byKeys: boolean) => void;
  /** Moves the focus to the selected tab. */
  focusTab: () => void;
}

/** Keeps the focus in the selected tab while people move between tabs by keyboard. */
export function useTabFocus(shown: string | null): TabFocus {
  const tabs = useRef<HTMLDivElement>(null);
  const [byKeys, setByKeys] = useState(false);
  useEffect(() => {
    if (byKeys && shown) {
      selected(tabs.current)?.focus();
    }
  }, [byKeys, shown]);
  const focusTab = () => {
    setByKeys(true);
    selected(tabs.current)?.focus();
  };
  return { tabs, byKeys, setByKeys, focusTab };
}

function selected(tabs: HTMLElement | null): HTMLElement | null {
  return tabs?.querySelector<HTMLElement>("[aria-selected=true]") ?? null;
}
