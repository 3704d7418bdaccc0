import { type RefObject, useEffect, useEffectEvent, useRef } from "react";
import type { PlaceState } from "../../../api/contract";
import { t } from "../../../i18n/chat";

export interface LaterProps {
  /** The scrolling element. */
  box: RefObject<HTMLElement | null>;
  place: PlaceState;
  /** Called when the reader comes near, and after each change of the range while its end is in view. */
  onNear: () => void;
}

/** The end of a range in the middle of a session: later entries are fetched as the reader approaches it. */
export function Later({ box, place, onNear }: LaterProps) {
  const foot = useRef<HTMLDivElement>(null);
  const near = useEffectEvent(onNear);
  useEffect(() => {
    const element = foot.current;
    if (!element || place.later === "loading") {
      return;
    }
    const observer = new IntersectionObserver(([seen]) => seen?.isIntersecting && near(), {
      root: box.current,
      rootMargin: "0px 0px 800px 0px",
    });
    observer.observe(element);
    return () => observer.disconnect();
    // An answer can arrive before the page has shown that it was asked for, and the end stay in view all the while.
  }, [box, place]);
  return (
    <div ref={foot} data-testid="later" className="caption py-3 text-center text-faint">
      {t("chat.transcript.laterEntries")}
    </div>
  );
}
