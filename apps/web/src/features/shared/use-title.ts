import { useEffect } from "react";

let page = "";
let count = 0;

function show(): void {
  document.title = `${count > 0 ? `(${count}) ` : ""}${page ? `${page} · ` : ""}scorel`;
}

/** Puts how much waits for the person before the name of the page in the tab; 0 removes it. */
export function showCount(waiting: number): void {
  count = waiting;
  show();
}

/** Names the page in the tab while the component stands. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (!title) {
      return;
    }
    page = title;
    show();
    return () => {
      page = "";
      show();
    };
  }, [title]);
}
