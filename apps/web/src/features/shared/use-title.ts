import { useEffect } from "react";

/** Names the page in the tab while the component stands. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (!title) return;
    document.title = `${title} · scorel`;
    return () => {
      document.title = "scorel";
    };
  }, [title]);
}
