import { memo } from "react";
import { CopyButton } from "../../../components/CopyButton";
import { t } from "../../../i18n/chat";
import { Code } from "../../code/Code";

/** Code in a frame with its language and a copy button; it is highlighted once the grammar is loaded. */
export const CodeBlock = memo(function CodeBlock({ code, language }: { code: string; language: string }) {
  return (
    <figure className="code-block group relative my-3 overflow-hidden rounded-md border border-line bg-sunken">
      <figcaption className="flex h-9 pointer-coarse:h-11 items-center justify-between border-line border-b pl-3">
        <span className="caption text-faint">{language || t("chat.text.text")}</span>
        <CopyButton text={code} label={t("chat.text.copyTheCode")} className="min-h-8 pointer-coarse:min-h-11" />
      </figcaption>
      <Code code={code} language={language} className="max-h-[32rem] overflow-auto p-3" />
    </figure>
  );
});
