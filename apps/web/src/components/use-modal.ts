import { createContext, type RefObject, useContext, useLayoutEffect, useRef } from "react";

/** Takes a dialog that has opened. Returns a function that takes its end. */
export type OnModal = (dialog: HTMLDialogElement) => () => void;

export const ModalContext = createContext<OnModal>(() => () => {});

/** Opens the native dialog of the ref as a modal, so that focus and what lies behind are the browser's care. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const ref = useRef<HTMLDialogElement>(null);
  const opened = useContext(ModalContext);
  // A layout effect: its end still finds the dialog in the page, and so the browser
  // gives the focus back to where it came from.
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
