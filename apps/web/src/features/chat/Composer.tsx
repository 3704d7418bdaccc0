import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { MAX_PROMPT } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { ArrowUpIcon, StopIcon } from "../../components/icons";
import { useTouch } from "../shared/use-media";
import { draftName, keepDraft } from "./draft";

export interface ComposerProps {
  /** Names the draft: it comes back with the session. */
  draftKey: string;
  onSend: (text: string, steer?: boolean) => void;
  /** A text to be written anew, put into the box when it changes. */
  insert?: { text: string } | null;
  /** null while no turn runs. */
  onCancel: (() => void) | null;
  cancelling: boolean;
  /** Why nothing can be written here, or null. */
  blocked: string | null;
  /** Stands at the left under the text. */
  children?: ReactNode;
}

/** Where a prompt is written. It stays open while a turn runs: what is sent then waits its turn. */
export function Composer({ draftKey, onSend, insert, onCancel, cancelling, blocked, children }: ComposerProps) {
  const [text, setText] = useDraft(draftKey);
  const [error, setError] = useState<string | null>(null);
  const touch = useTouch();
  const area = useAutosize(text);
  // Under a finger the focus would bring up the keyboard over the transcript.
  useEffect(() => {
    if (!touch) area.current?.focus({ preventScroll: true });
  }, [touch, area]);

  const inserted = useRef(insert);
  useEffect(() => {
    if (!insert || inserted.current === insert) return;
    inserted.current = insert;
    setText(insert.text);
  });

  const send = (steer = false) => {
    const trimmed = text.trim();
    if (trimmed === "" || blocked) return;
    const tooLong = new TextEncoder().encode(trimmed).length > MAX_PROMPT;
    setError(
      tooLong ? "This message is longer than 1 MiB; put it in a file of the project and name the file here." : null,
    );
    if (tooLong) return;
    setText("");
    if (steer) onSend(trimmed, true);
    else onSend(trimmed);
    area.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter chooses a word; keyCode 229 is how Safari says so.
    const composing = event.nativeEvent.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || touch || composing) return;
    event.preventDefault();
    send();
  };

  return (
    <div className="safe-x safe-b mx-auto w-full max-w-3xl shrink-0 pt-1">
      <div className="rounded-lg border border-line-strong bg-surface focus-within:border-accent">
        <textarea
          ref={area}
          data-testid="composer"
          aria-label="Message to the agent"
          aria-describedby={error ? "composer-error" : undefined}
          rows={1}
          value={text}
          disabled={blocked !== null}
          placeholder={blocked ?? (onCancel ? "Write on; it waits for this turn to end" : "Ask the agent")}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          enterKeyHint={touch ? "enter" : "send"}
          className="block max-h-[40dvh] min-h-11 w-full resize-none bg-transparent px-3.5 pt-3 pb-1 text-base outline-none placeholder:text-faint disabled:cursor-not-allowed"
        />
        {error ? (
          <p id="composer-error" role="alert" className="px-3.5 py-1 text-danger text-sm">
            {error}
          </p>
        ) : null}
        <div className="flex items-center gap-1.5 p-1.5">
          <div className="flex min-w-0 flex-1 items-center">{children}</div>
          {onCancel ? (
            <Button data-testid="cancel-turn" disabled={cancelling} onClick={onCancel}>
              <StopIcon className="text-danger" />
              <span className={text.trim() === "" ? undefined : "max-sm:sr-only"}>
                {cancelling ? "Stopping" : "Stop"}
              </span>
            </Button>
          ) : null}
          {onCancel && text.trim() !== "" && !blocked ? (
            <Button data-testid="steer" tone="quiet" onClick={() => send(true)}>
              Say it now
            </Button>
          ) : null}
          <SendButton
            queues={onCancel !== null}
            disabled={text.trim() === "" || blocked !== null}
            onClick={() => send()}
          />
        </div>
      </div>
    </div>
  );
}

function SendButton({ queues, disabled, onClick }: { queues: boolean; disabled: boolean; onClick: () => void }) {
  return (
    <IconButton
      data-testid="send"
      label={queues ? "Queue this message" : "Send"}
      disabled={disabled}
      onClick={onClick}
      className="bg-accent text-lg text-on-accent hover:bg-accent-hover hover:text-on-accent disabled:bg-sunken disabled:text-faint disabled:opacity-100"
    >
      <ArrowUpIcon />
    </IconButton>
  );
}

/** The text, kept for this tab until it is sent. */
function useDraft(key: string): [string, (text: string) => void] {
  const name = draftName(key);
  const [state, setState] = useState(() => ({ name, text: sessionStorage.getItem(name) ?? "" }));
  const text = state.name === name ? state.text : (sessionStorage.getItem(name) ?? "");
  const set = (next: string) => {
    setState({ name, text: next });
    keepDraft(key, next);
  };
  return [text, set];
}

/** Grows the box with its text; the style sheet sets the limit. */
function useAutosize(text: string) {
  const ref = useRef<HTMLTextAreaElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const area = ref.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight}px`;
  }, [text]);
  return ref;
}
