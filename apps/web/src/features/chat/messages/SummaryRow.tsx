import { useState } from "react";
import { cx } from "../../../components/cx";
import { ChevronRightIcon } from "../../../components/icons";
import { Markdown } from "../text/Markdown";

/** A summary that replaces earlier messages; a click shows its text. */
export function SummaryRow({ title, text }: { title: string; text: string }) {
  const [open, setOpen] = useState(false);
  return (
    <section data-testid="summary" aria-label={title} className="my-6">
      <div className="flex items-center gap-3 text-faint">
        <span aria-hidden="true" className="h-px flex-1 bg-line-strong" />
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="touchable caption inline-flex items-center gap-1 rounded-sm px-1 hover:text-ink"
        >
          <ChevronRightIcon className={cx("transition-transform", open && "rotate-90")} />
          {title}
        </button>
        <span aria-hidden="true" className="h-px flex-1 bg-line-strong" />
      </div>
      {open ? (
        <div className="mt-2 rounded-md border border-line bg-surface px-4 py-2 text-sm">
          <Markdown text={text} />
        </div>
      ) : null}
    </section>
  );
}
