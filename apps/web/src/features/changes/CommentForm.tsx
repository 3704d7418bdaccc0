import { useEffect, useId, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { t } from "../../i18n/changes";
import { focusIsLost } from "../shared/lost-focus";

export interface CommentFormProps {
  line: number;
  onComment: (comment: string) => void;
  onCancel: () => void;
}

/** A comment on a line, which is added to the next prompt. */
export function CommentForm({ line, onComment, onCancel }: CommentFormProps) {
  const [text, setText] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const id = useId();
  // Returns the focus to the line.
  useEffect(() => {
    const before = document.activeElement;
    area.current?.focus();
    return () => {
      if (before instanceof HTMLElement && focusIsLost(before)) {
        before.focus({ preventScroll: true });
      }
    };
  }, []);
  // Escape would close the sheet around it, and its text would be lost.
  const leave = () => (text.trim() === "" ? onCancel() : cancel.current?.focus());
  const add = () => (text.trim() === "" ? undefined : onComment(text.trim()));
  return (
    <div className="space-y-2 p-2 font-sans">
      <label htmlFor={id} className="block text-muted text-xs">
        {t("changes.comment", { line: String(line) })}
      </label>
      <textarea
        id={id}
        ref={area}
        value={text}
        rows={2}
        placeholder={t("changes.yourComment")}
        data-testid="line-comment"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
            add();
          } else if (event.key === "Escape" && !event.nativeEvent.isComposing) {
            event.preventDefault();
            leave();
          }
        }}
        className="w-full rounded-md border border-line bg-surface px-3 py-2 text-base"
      />
      <div className="flex justify-end gap-2">
        <Button ref={cancel} tone="quiet" onClick={onCancel}>
          {t("changes.cancel")}
        </Button>
        <Button tone="primary" data-testid="add-comment" disabled={text.trim() === ""} onClick={add}>
          {t("changes.addToPrompt")}
        </Button>
      </div>
    </div>
  );
}
