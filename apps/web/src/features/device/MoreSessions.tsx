import { useEffect, useEffectEvent, useRef } from "react";
import { Spinner } from "../../components/Spinner";
import { t } from "../../i18n/device";

export interface MoreSessionsProps {
  state: "none" | "some" | "loading";
  /** The number of listed sessions. */
  shown: number;
  onMore: () => void;
}

/** The end of a list with more pages: the next one is loaded when the reader reaches it. */
export function MoreSessions({ state, shown, onMore }: MoreSessionsProps) {
  const foot = useRef<HTMLButtonElement>(null);
  const more = useEffectEvent(onMore);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a page, the end may be in view as before
  useEffect(() => {
    const element = foot.current;
    if (!element || state !== "some") {
      return;
    }
    const observer = new IntersectionObserver(([seen]) => seen?.isIntersecting && more(), { rootMargin: "600px 0px" });
    observer.observe(element);
    return () => observer.disconnect();
  }, [state, shown]);
  if (state === "none") {
    return null;
  }
  return (
    <button
      ref={foot}
      type="button"
      data-testid="more-sessions"
      disabled={state === "loading"}
      onClick={onMore}
      className="touchable flex w-full items-center gap-2 border-line border-t px-4 text-left text-muted text-sm hover:bg-sunken hover:text-ink"
    >
      {state === "loading" ? <Spinner /> : null} {t("device.moreSessions.moreSessions")}
    </button>
  );
}
