import { createContext, type RefObject, useContext, useLayoutEffect, useRef } from "react";

/** Called with a dialog that has opened. Returns the function to call when it closes. */
export type OnModal = (dialog: HTMLDialogElement) => () => void;

export const ModalContext = createContext<OnModal>(() => () => {});

/** Opens the native dialog of the ref as a modal, so that the browser manages the focus and the inert background. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const ref = useRef<HTMLDialogElement>(null);
  const opened = useContext(ModalContext);
  // A layout effect: its cleanup still finds the dialog in the page, so that the browser returns the focus to where it
  // was.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (!dialog) {
      return;
    }
    dialog.showModal();
    const ended = opened(dialog);
    return () => {
      dialog.close();
      ended();
    };
  }, [opened]);
  return ref;
}
