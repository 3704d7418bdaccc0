import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { t } from "../i18n/components";
import { IconButton } from "./Button";
import { CloseIcon } from "./shell-icons";
import { ModalContext, type OnModal } from "./use-modal";

interface ToastAction {
  label: string;
  run: () => void;
}

interface ToastItem {
  id: number;
  text: ReactNode;
  action: ToastAction | undefined;
  /** When it disappears, in milliseconds of the page's clock. */
  until: number;
}

type ShowToast = (text: ReactNode, action?: ToastAction) => void;

const ToastContext = createContext<ShowToast>(() => {});

/** Returns the function that shows a short sentence for a while, with an optional action. */
export function useToast(): ShowToast {
  return useContext(ToastContext);
}

const shownFor = 7000;

export function ToastProvider({ children }: { children: ReactNode }) {
  const [items, setItems] = useState<ToastItem[]>([]);
  const [dialogs, setDialogs] = useState<HTMLDialogElement[]>([]);
  const show = useCallback<ShowToast>((text, action) => {
    const until = performance.now() + shownFor;
    setItems((before) => [...before.slice(-2), { id: (before.at(-1)?.id ?? 0) + 1, text, action, until }]);
  }, []);
  const remove = useCallback((id: number) => setItems((before) => before.filter((item) => item.id !== id)), []);
  const onModal = useCallback<OnModal>((dialog) => {
    setDialogs((before) => [...before, dialog]);
    return () => setDialogs((before) => before.filter((each) => each !== dialog));
  }, []);
  const rows = items.map((item) => <ToastRow key={item.id} item={item} onClose={remove} />);
  // A modal dialog covers everything outside it and makes it inert. The other containers stay, empty: screen readers
  // announce additions to containers that they know.
  return (
    <ToastContext value={show}>
      <ModalContext value={onModal}>{children}</ModalContext>
      <ToastPlace>{dialogs.length === 0 ? rows : null}</ToastPlace>
      {dialogs.map((dialog, i) =>
        createPortal(<ToastPlace>{i === dialogs.length - 1 ? rows : null}</ToastPlace>, dialog, String(i)),
      )}
    </ToastContext>
  );
}

function ToastPlace({ children }: { children: ReactNode }) {
  return (
    <div
      role="status"
      className="safe-b pointer-events-none fixed inset-x-0 bottom-20 z-50 flex flex-col items-center gap-2 px-4"
    >
      {children}
    </div>
  );
}

function ToastRow({ item, onClose }: { item: ToastItem; onClose: (id: number) => void }) {
  useEffect(() => {
    const timer = setTimeout(() => onClose(item.id), item.until - performance.now());
    return () => clearTimeout(timer);
  }, [item.id, item.until, onClose]);
  return (
    <div className="rise pointer-events-auto flex max-w-md items-center gap-2 rounded-md bg-ink py-1 pr-1 pl-4 text-bg text-sm shadow-raised">
      <span className="py-1.5">{item.text}</span>
      {item.action ? (
        <button
          type="button"
          className="touchable px-2 font-medium underline"
          onClick={() => {
            item.action?.run();
            onClose(item.id);
          }}
        >
          {item.action.label}
        </button>
      ) : null}
      <IconButton
        label={t("components.toast.dismiss")}
        onClick={() => onClose(item.id)}
        className="text-bg hover:bg-transparent hover:text-bg"
      >
        <CloseIcon />
      </IconButton>
    </div>
  );
}
