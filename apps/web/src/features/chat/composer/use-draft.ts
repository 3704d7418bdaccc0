import { useEffect, useRef, useState } from "react";
import type { Unkept } from "../../../api/contract";
import { useDrafts } from "../../shared/use-drafts";
import { joinFiles, splitFiles } from "../images/text-files";
import { type AttachmentsOptions, useAttachments } from "../images/use-attachments";

/** The limits of what a prompt can carry. */
export type Limits = Pick<AttachmentsOptions, "noImages" | "maxFile">;

/**
 * The text, files and images of a draft, stored in this browser until they are sent. Files are stored as they will be
 * sent.
 */
export function useDraft(key: string, limits: Limits, tell: (problem: string | null) => void) {
  const drafts = useDrafts();
  const [here] = useState(() => drafts.peek(key));
  const [began] = useState(() => splitFiles(here?.text ?? ""));
  const [text, setText] = useState(began.text);
  const attached = useAttachments({ tell, ...limits, images: here?.images, files: began.files });
  const read = useRef(here !== undefined);
  const stored = useRef<Promise<unknown> | undefined>(undefined);
  const { images, files, replace, replaceFiles } = attached;
  const [unkept, setUnkept] = useState<Unkept | null>(null);

  useEffect(() => drafts.onTried(key, setUnkept), [drafts, key]);

  useEffect(() => {
    if (read.current) {
      return;
    }
    let over = false;
    void drafts.read(key).then((draft) => {
      if (over) {
        return;
      }
      read.current = true;
      const kept = splitFiles(draft.text);
      // Text typed meanwhile follows it.
      if (kept.text) {
        setText((typed) => (typed ? `${kept.text}\n${typed}` : kept.text));
      }
      if (kept.files.length > 0) {
        replaceFiles((before) => [...kept.files, ...before]);
      }
      if (draft.images.length > 0) {
        replace((before) => [...draft.images, ...before]);
      }
    });
    return () => {
      over = true;
    };
  }, [drafts, key, replace, replaceFiles]);

  useEffect(
    () =>
      drafts.onOther(key, (draft) => {
        if (!read.current) {
          return; // it is being loaded
        }
        const kept = splitFiles(draft.text);
        setText(kept.text);
        replaceFiles(() => kept.files);
        replace(() => draft.images);
      }),
    [drafts, key, replace, replaceFiles],
  );

  useEffect(() => {
    const whole = joinFiles(text, files);
    const empty = whole === "" && images.length === 0;
    if (read.current || !empty) {
      drafts.keep(key, whole, images, empty ? stored.current : undefined);
    }
  }, [drafts, key, text, files, images]);

  const sending = (done: unknown) => {
    stored.current = done instanceof Promise ? done : undefined;
  };
  return { text, setText, attached, sending, unkept };
}
