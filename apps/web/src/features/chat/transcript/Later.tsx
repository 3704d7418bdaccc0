import { type RefObject, useEffect, useEffectEvent, useRef } from "react";
import { t } from "../../../i18n/chat";

export interface LaterProps {
  /** The scrolling element. */
  box: RefObject<HTMLElement | null>;
  busy: boolean;
  /** Called when the reader comes near. */
  onNear: () => void;
}

/** The end of a range in the middle of a session: later entries are fetched as the reader approaches it. */
export function Later({ box, busy, onNear }: LaterProps) {
  const foot = useRef<HTMLDivElement>(null);
  const near = useEffectEvent(onNear);
  useEffect(() => {
    const element = foot.current;
    if (!element || busy) {
      return;
    }
    const observer = new IntersectionObserver(([seen]) => seen?.isIntersecting && near(), {
      root: box.current,
      rootMargin: "0px 0px 800px 0px",
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, busy]);
  return (
    <div ref={foot} data-testid="later" className="caption py-3 text-center text-faint">
      {t("chat.transcript.laterEntries")}
    </div>
  );
}
