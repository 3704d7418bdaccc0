import { type ReactNode, useId } from "react";
import { t } from "../i18n/components";
import { IconButton } from "./Button";
import { cx } from "./cx";
import { CloseIcon } from "./shell-icons";
import { useModal } from "./use-modal";
import { useScrim } from "./use-scrim";

export interface SheetProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Stays visible below the scrolling content. */
  footer?: ReactNode;
  /** Uses most of a wide screen, for code. */
  wide?: boolean;
}

/**
 * A modal: from below on a phone, centered on wide screens. It is a native dialog, so that the browser manages focus,
 * Escape and the inert background.
 */
export function Sheet({ title, onClose, children, footer, wide = false }: SheetProps) {
  const ref = useModal();
  const titleId = useId();
  const scrim = useScrim(ref, onClose);
  return (
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      {...scrim}
      onCancel={(event) => {
        // React propagates the cancel event of a sheet or a file picker within this one.
        if (event.target === ref.current) {
          event.preventDefault();
          onClose();
        }
      }}
      className={cx(
        "rise m-0 mt-auto max-h-[88dvh] w-full max-w-none rounded-t-lg border border-line bg-surface p-0 font-sans text-base text-ink tracking-normal shadow-raised backdrop:bg-scrim sm:m-auto sm:rounded-lg",
        wide ? "sm:max-w-5xl" : "sm:max-w-lg",
      )}
    >
      <div className="flex max-h-[88dvh] flex-col">
        <div className="flex items-center justify-between gap-2 border-line border-b py-2 pr-2 pl-4">
          <h2 id={titleId} dir="auto" className="min-w-0 break-words font-semibold [overflow-wrap:anywhere]">
            {title}
          </h2>
          <IconButton label={t("components.sheet.close")} onClick={onClose}>
            <CloseIcon />
          </IconButton>
        </div>
        <div data-scrolls className="min-h-0 flex-1 overflow-y-auto p-4">
          {children}
        </div>
        {footer ? <div className="safe-b flex justify-end gap-2 border-line border-t p-3">{footer}</div> : null}
      </div>
    </dialog>
  );
}
