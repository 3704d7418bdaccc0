import { type ClipboardEvent, type Dispatch, type DragEvent, type SetStateAction, useState } from "react";
import type { PromptImage } from "../../../api/contract";
import { type ImageBlock, MAX_IMAGES, MAX_IMAGES_BYTES } from "../../../api/types";
import { t } from "../../../i18n/chat";
import { sentence } from "../../shared/errors";
import { prepareImage } from "./prepare-image";

/** An image of this browser, or one that the host has. */
export type Attached = PromptImage | ImageBlock;

export interface Attachments {
  images: Attached[];
  /** How many files are being read. */
  busy: number;
  add(files: Iterable<File>): Promise<void>;
  remove(image: Attached): void;
  /** Puts others in the place of all. */
  replace: Dispatch<SetStateAction<Attached[]>>;
  onPaste(event: ClipboardEvent): void;
  onDrop(event: DragEvent): void;
}

/** The images that go with the next prompt. `tell` is given a sentence where one cannot go with it. */
export function useAttachments(tell: (problem: string | null) => void, first: Attached[] = []): Attachments {
  const [images, setImages] = useState<Attached[]>(first);
  const [busy, setBusy] = useState(0);

  const add = async (files: Iterable<File>) => {
    tell(null);
    for (const file of files) {
      setBusy((n) => n + 1);
      try {
        const image = await prepareImage(file);
        setImages((before) => {
          const all = [...before.filter((each) => each.sha256 !== image.sha256), image];
          const problem = tooMuch(all);
          if (problem) {
            tell(problem);
          }
          return problem ? before : all;
        });
      } catch (cause) {
        tell(sentence(cause));
      } finally {
        setBusy((n) => n - 1);
      }
    }
  };
  const take = (event: ClipboardEvent | DragEvent, data: DataTransfer | null) => {
    const files = [...(data?.files ?? [])];
    if (files.length === 0) {
      return;
    }
    event.preventDefault();
    void add(files);
  };
  return {
    images,
    busy,
    add,
    remove: (image) => setImages((before) => before.filter((each) => each !== image)),
    replace: setImages,
    onPaste: (event) => take(event, event.clipboardData),
    onDrop: (event) => take(event, event.dataTransfer),
  };
}

function tooMuch(images: Attached[]): string | null {
  if (images.length > MAX_IMAGES) {
    return t("chat.images.aMessageCanHaveAt", { max: MAX_IMAGES });
  }
  const size = images.reduce((sum, image) => sum + ("blob" in image ? image.blob.size : (image.size ?? 0)), 0);
  return size > MAX_IMAGES_BYTES ? t("chat.images.theImagesOfAMessage") : null;
}
