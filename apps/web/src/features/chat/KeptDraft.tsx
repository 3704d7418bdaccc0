import { useEffect, useState } from "react";
import { CopyButton } from "../../components/CopyButton";
import { t } from "../../i18n/chat";
import { useDrafts } from "../shared/use-drafts";
import { splitFiles } from "./images/text-files";

/** Shows unsent text where it cannot be changed or sent; renders nothing if there is none. */
export function KeptDraft({ draftKey }: { draftKey: string }) {
  const drafts = useDrafts();
  const [text, setText] = useState("");
  useEffect(() => {
    let over = false;
    void drafts.read(draftKey).then((draft) => over || setText(splitFiles((drafts.peek(draftKey) ?? draft).text).text));
    return () => {
      over = true;
    };
  }, [drafts, draftKey]);
  if (text === "") {
    return null;
  }
  return (
    <section className="mt-2">
      <div className="flex items-center justify-between">
        <h2 className="font-medium text-sm">{t("chat.keptDraft.title")}</h2>
        <CopyButton text={text} label={t("chat.keptDraft.copy")} />
      </div>
      <textarea
        data-testid="kept-draft"
        readOnly
        dir="auto"
        aria-label={t("chat.keptDraft.title")}
        rows={Math.min(text.split("\n").length, 6)}
        value={text}
        className="mt-1 field-sizing-content block max-h-40 min-h-11 w-full resize-none rounded-md border border-line bg-sunken px-3 py-2 text-base"
      />
    </section>
  );
}
