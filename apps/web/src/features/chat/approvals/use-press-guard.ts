import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { PointerContext } from "./pointer-track";
import { GUARDED, PressGuard } from "./press-guard";

/** Why a press does not count: the card has just appeared, or the pointer rests where the button appeared. */
export type Refusal = "early" | "resting";

/** The guard of one card's buttons. */
export interface Guard {
  /** Reports whether a press of the button would count now. */
  isOpen: (name: string) => boolean;
  /** Returns the attributes of a guarded button. */
  button: (name: string, press: () => void) => GuardedProps;
  /** Reports whether a key press that begins now may activate a button. */
  takesKeys: () => boolean;
}

interface GuardedProps {
  [GUARDED]: string;
  "aria-disabled": boolean | undefined;
  onPointerDown: (event: PointerEvent) => void;
  onKeyDown: (event: KeyboardEvent) => void;
  onClick: () => void;
}

/**
 * Guards the buttons of `card` while `on`; see PressGuard for the rules. `area` is the element that must be visible. A
 * changed `epoch` restarts the time. A press that does not count calls `refuse`.
 */
export function usePressGuard(
  card: RefObject<HTMLElement | null>,
  area: RefObject<HTMLElement | null>,
  on: boolean,
  epoch: unknown,
  refuse: (why: Refusal) => void,
): Guard {
  const pointer = useContext(PointerContext);
  const guard = useRef<PressGuard | null>(null);
  const [open, setOpen] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!on || !area.current || !card.current) {
      return;
    }
    const made = new PressGuard({ area: area.current, card: card.current, pointer, onChange: setOpen });
    guard.current = made;
    return () => {
      guard.current = null;
      made.stop();
    };
  }, [area, card, on, pointer]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the epoch changes
  useEffect(() => guard.current?.restart(), [epoch]);
  return useMemo(
    () => ({
      isOpen: (name) => open.includes(name),
      takesKeys: () => guard.current?.isSettled ?? false,
      button: (name, press) => ({
        [GUARDED]: name,
        "aria-disabled": !open.includes(name) || undefined,
        onPointerDown: ({ pointerType }) => guard.current?.begin(name, pointerType !== "touch"),
        onKeyDown: (event) => {
          if (event.repeat) {
            event.preventDefault();
          } else if (event.key === "Enter" || event.key === " ") {
            guard.current?.begin(name, false);
          }
        },
        onClick: () => {
          if (guard.current?.counts(name)) {
            press();
          } else {
            refuse(guard.current?.isSettled ? "resting" : "early");
          }
        },
      }),
    }),
    [open, refuse],
  );
}
