import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { isFile } from "../../../api/images";
import { MAX_FILE_BYTES, MAX_PROMPT } from "../../../api/types";
import { Button, IconButton } from "../../../components/Button";
import { ArrowUpIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { sizeText } from "../../shared/size-text";
import { useTouch } from "../../shared/use-media";
import { AttachedFiles } from "../attached/AttachedFiles";
import { DropTarget } from "../attached/DropTarget";
import type { Insert } from "../context/history-context";
import { AttachButton, AttachedImages, CameraButton } from "../images/AttachedImages";
import { joinFiles } from "../images/text-files";
import type { Attached } from "../images/use-attachments";
import { StopButton } from "./StopButton";
import { useCaret } from "./use-caret";
import { useDraft } from "./use-draft";
import { useInserted } from "./use-inserted";
import { type SuggestScope, useSuggest } from "./use-suggest";

export interface ComposerProps {
  /** The key of the draft, which is restored with the session. */
  draftKey: string;
  /** May return a promise that resolves when the message is stored: its draft is kept until then. */
  onSend: (text: string, steer?: boolean, images?: Attached[]) => unknown;
  /** Why images cannot be sent, or null: the model may accept none. */
  noImages?: string | null;
  /** The largest file that the host stores, in bytes; 0 if it stores none. */
  maxFile?: number;
  /** The source of completions for / and @; absent for none. */
  suggest?: SuggestScope;
  /** Added to the draft when it changes. */
  insert?: Insert | null;
  /** null while no turn is running. */
  onCancel: (() => void) | null;
  cancelling: boolean;
  /** The running turn. */
  turn?: string | undefined;
  /** Why the composer is disabled, or null. */
  blocked: string | null;
  /** Shown below the text, on the left. */
  children?: ReactNode;
}

/** The field for prompts. It stays enabled while a turn runs: prompts sent meanwhile are queued. */
export function Composer({
  draftKey,
  onSend,
  noImages = null,
  maxFile = MAX_FILE_BYTES,
  suggest: scope = {},
  insert,
  onCancel,
  cancelling,
  turn,
  blocked,
  children,
}: ComposerProps) {
  const [error, setError] = useState<string | null>(null);
  const { text, setText, attached, sending, unkept } = useDraft(draftKey, { noImages, maxFile }, setError);
  const touch = useTouch();
  const area = useAutosize(text);
  const caret = useCaret(area, text);
  const suggest = useSuggest(blocked === null ? scope : {}, {
    text,
    caret: caret.at,
    replace: (next, at) => {
      setText(next);
      caret.put(at);
      area.current?.focus();
    },
  });
  // On touch screens the focus would open the keyboard over the transcript.
  useEffect(() => {
    if (!touch) {
      area.current?.focus({ preventScroll: true });
    }
  }, [touch, area]);

  useInserted(insert, { text, setText, attached });
  const disabled = blocked !== null;
  const onFiles = (files: File[]) => void attached.add(files);
  const whole = joinFiles(text.trim(), attached.files);
  const ready = (whole !== "" || attached.images.length > 0) && attached.busy === 0;
  const send = (steer = false, images = attached.images) => {
    if (!ready || blocked || (whole === "" && images.length === 0)) {
      return;
    }
    if (noImages && images.some((each) => !isFile(each))) {
      return setError(noImages);
    }
    const tooLong = new TextEncoder().encode(whole).length > MAX_PROMPT;
    setError(tooLong ? t("chat.composer.thisMessageIsLongerThan") : null);
    if (tooLong) {
      return;
    }
    setText("");
    if (images.length > 0) {
      sending(onSend(whole, steer, images));
    } else if (steer) {
      sending(onSend(whole, true));
    } else {
      sending(onSend(whole));
    }
    attached.replace([]);
    attached.replaceFiles([]);
    area.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter selects a word; Safari reports this as keyCode 229.
    const composing = event.nativeEvent.isComposing || event.keyCode === 229;
    const modified = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    if (!composing && !modified && suggest.press(event.key)) {
      return event.preventDefault();
    }
    if (event.key !== "Enter" || event.shiftKey || touch || composing) {
      return;
    }
    event.preventDefault();
    send();
  };

  return (
    <div className="safe-x safe-b mx-auto w-full max-w-3xl shrink-0 pt-1">
      {blocked === null ? <DropTarget text={dropText(maxFile)} onFiles={(files) => void attached.add(files)} /> : null}
      <div
        data-composer
        className="relative rounded-lg border border-line-strong bg-surface focus-within:border-accent"
      >
        {suggest.menu}
        <AttachedImages
          images={attached.images.filter((each) => !isFile(each))}
          busy={attached.busy}
          onRemove={attached.remove}
        />
        <AttachedFiles
          files={[...attached.files, ...attached.images.filter(isFile)]}
          onRemove={(file) => ("blob" in file ? attached.remove(file) : attached.removeFile(file))}
        />
        <textarea
          ref={area}
          data-testid="composer"
          aria-label={t("chat.composer.messageToTheAgent")}
          aria-describedby={error ? "composer-error" : undefined}
          rows={1}
          value={text}
          disabled={blocked !== null}
          placeholder={blocked ?? (onCancel ? t("chat.composer.addToTheQueue") : t("chat.composer.askTheAgentToDo"))}
          onChange={(event) => {
            setText(event.target.value);
            caret.read();
          }}
          onSelect={caret.read}
          onKeyDown={onKeyDown}
          {...suggest.field}
          onPaste={attached.onPaste}
          enterKeyHint={touch ? "enter" : "send"}
          className="field-sizing-content block max-h-[40dvh] min-h-11 w-full resize-none bg-transparent px-3.5 pt-3 pb-1 text-base outline-none placeholder:text-faint disabled:cursor-not-allowed"
        />
        {error ? (
          <div className="flex flex-wrap items-center gap-x-2 px-3.5 py-1">
            <p id="composer-error" role="alert" className="min-w-0 text-danger text-sm">
              {error}
            </p>
            {error === noImages && attached.images.length > 0 && whole !== "" ? (
              <Button data-testid="send-without-images" onClick={() => send(false, attached.images.filter(isFile))}>
                {t("chat.composer.sendWithoutImages")}
              </Button>
            ) : null}
          </div>
        ) : null}
        {unkept && (whole !== "" || attached.images.length > 0) ? (
          <p data-testid="draft-unkept" role="status" className="px-3.5 py-1 text-sm text-warn">
            {unkept === "images" ? t("chat.composer.attachmentsNotKept") : t("chat.composer.draftNotKept")}
          </p>
        ) : null}
        <div className="flex items-center gap-1.5 p-1.5">
          <AttachButton {...{ disabled, maxFile, onFiles }} />
          {touch && onCancel === null && noImages === null && text === "" ? (
            <CameraButton {...{ disabled, onFiles }} />
          ) : null}
          <div className="flex min-w-0 flex-1 items-center">{children}</div>
          {onCancel ? (
            <StopButton key={turn} onStop={onCancel} stopping={cancelling} compact={text.trim() !== ""} />
          ) : null}
          {onCancel && ready && !blocked ? (
            <Button data-testid="steer" tone="quiet" onClick={() => send(true)}>
              {t("chat.composer.sendNow")}
            </Button>
          ) : null}
          <SendButton queues={onCancel !== null} disabled={!ready || blocked !== null} onClick={() => send()} />
        </div>
      </div>
    </div>
  );
}

function dropText(maxFile: number): string {
  return maxFile > 0 ? t("chat.attached.dropHere", { size: sizeText(maxFile) }) : t("chat.attached.dropTextHere");
}

function SendButton({ queues, disabled, onClick }: { queues: boolean; disabled: boolean; onClick: () => void }) {
  return (
    <IconButton
      data-testid="send"
      label={queues ? t("chat.composer.queueThisMessage") : t("chat.composer.send")}
      disabled={disabled}
      onClick={onClick}
      className="bg-accent text-lg text-on-accent hover:bg-accent-hover hover:text-on-accent disabled:bg-sunken disabled:text-faint disabled:opacity-100"
    >
      <ArrowUpIcon />
    </IconButton>
  );
}

/** Grows the box with its text where the style sheet cannot: measuring costs a layout of the page for every key. */
function useAutosize(text: string) {
  const ref = useRef<HTMLTextAreaElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const area = ref.current;
    if (!area || globalThis.CSS?.supports?.("field-sizing", "content")) {
      return;
    }
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight}px`;
  }, [text]);
  return ref;
}
