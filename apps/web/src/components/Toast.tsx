import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";
import { IconButton } from "./Button";
import { CloseIcon } from "./icons";

interface ToastItem {
  id: number;
  text: string;
}

const ToastContext = createContext<(text: string) => void>(() => {});

/** Returns the function that shows a short sentence for a while. */
export function useToast(): (text: string) => void {
  return useContext(ToastContext);
}

const shownFor = 7000;

export function ToastProvider({ children }: { children: ReactNode }) {
  const [items, setItems] = useState<ToastItem[]>([]);
  const show = useCallback((text: string) => {
    setItems((before) => [...before.slice(-2), { id: (before.at(-1)?.id ?? 0) + 1, text }]);
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
      <IconButton
        label="Dismiss"
        onClick={() => onClose(item.id)}
        className="text-bg hover:bg-transparent hover:text-bg"
      >
        <CloseIcon />
      </IconButton>
    </div>
  );
}
