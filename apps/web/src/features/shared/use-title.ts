import { useEffect } from "react";

let page = "";
let count = 0;

function show(): void {
  document.title = `${count > 0 ? `(${count}) ` : ""}${page ? `${page} · ` : ""}scorel`;
}

/** Shows how many sessions wait for the person before the page's name in the tab; 0 removes it. */
export function showCount(waiting: number): void {
  count = waiting;
  show();
}

/** Sets the page's name in the tab while the component is mounted. */
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
