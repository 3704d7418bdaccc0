import { useState } from "react";
import { cx } from "../../../components/cx";
import { ChevronRightIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";

/** The model's reasoning, folded until it is opened. */
export function Thinking({ text, live = false }: { text: string; live?: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="my-2">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="touchable -ml-1 inline-flex items-center gap-1 rounded-sm px-1 text-faint text-sm hover:text-ink"
      >
        <ChevronRightIcon className={cx("transition-transform", open && "rotate-90")} />
        <span className={cx(live && "pulse-dot")}>
          {live ? t("chat.messages.thinking") : t("chat.messages.reasoning")}
        </span>
      </button>
      {open ? (
        <p className="ml-2 whitespace-pre-wrap break-words border-line border-l-2 pl-3 text-muted text-sm">
          {text || t("chat.messages.theProviderHidesThisPart")}
        </p>
      ) : null}
    </div>
  );
}
