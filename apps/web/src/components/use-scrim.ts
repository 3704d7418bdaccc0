import { type MouseEvent, type PointerEvent, type RefObject, useRef } from "react";

/**
 * Returns the handlers with which a click beside a modal dialog closes it. A click whose press began in the dialog, as
 * at the end of a selection, does not: the browser reports it for the dialog too.
 */
export function useScrim(dialog: RefObject<HTMLDialogElement | null>, onClose: () => void) {
  const inside = useRef(false);
  return {
    onPointerDown: ({ target }: PointerEvent) => {
      inside.current = target !== dialog.current;
    },
    onClick: ({ target }: MouseEvent) => {
      const began = inside.current;
      inside.current = false;
      if (target === dialog.current && !began) {
        onClose();
      }
    },
  };
}
