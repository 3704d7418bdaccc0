import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";
import { t } from "../i18n/components";
import { IconButton } from "./Button";
import { CloseIcon } from "./shell-icons";

interface ToastAction {
  label: string;
  run: () => void;
}

interface ToastItem {
  id: number;
  text: string;
  action: ToastAction | undefined;
}

type ShowToast = (text: string, action?: ToastAction) => void;

const ToastContext = createContext<ShowToast>(() => {});

/** Returns the function that shows a short sentence for a while, with what can be done about it. */
export function useToast(): ShowToast {
  return useContext(ToastContext);
}

const shownFor = 7000;

export function ToastProvider({ children }: { children: ReactNode }) {
  const [items, setItems] = useState<ToastItem[]>([]);
  const show = useCallback<ShowToast>((text, action) => {
    setItems((before) => [...before.slice(-2), { id: (before.at(-1)?.id ?? 0) + 1, text, action }]);
  }, []);
  const remove = useCallback((id: number) => setItems((before) => before.filter((item) => item.id !== id)), []);
  return (
    <ToastContext value={show}>
      {children}
      <div
        role="status"
        className="safe-b pointer-events-none fixed inset-x-0 bottom-20 z-50 flex flex-col items-center gap-2 px-4"
      >
        {items.map((item) => (
          <ToastRow key={item.id} item={item} onClose={remove} />
        ))}
      </div>
    </ToastContext>
  );
}

function ToastRow({ item, onClose }: { item: ToastItem; onClose: (id: number) => void }) {
  useEffect(() => {
    const timer = setTimeout(() => onClose(item.id), shownFor);
    return () => clearTimeout(timer);
  }, [item.id, onClose]);
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
