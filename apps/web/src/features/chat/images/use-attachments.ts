import { type ClipboardEvent, type Dispatch, type SetStateAction, useState } from "react";
import type { PromptImage } from "../../../api/contract";
import { type ImageBlock, MAX_IMAGES, MAX_IMAGES_BYTES } from "../../../api/types";
import { t } from "../../../i18n/chat";
import { sentence } from "../../shared/errors";
import { isImage, prepareImage } from "./prepare-image";
import { MAX_TEXT_FILES, readTextFile, type TextFile } from "./text-files";

/** An image of this browser, or one that the host has. */
export type Attached = PromptImage | ImageBlock;

export interface Attachments {
  images: Attached[];
  /** Text files, which become part of the prompt. */
  files: TextFile[];
  /** How many files are being read. */
  busy: number;
  add(files: Iterable<File>): Promise<void>;
  remove(image: Attached): void;
  removeFile(file: TextFile): void;
  /** Puts others in the place of all. */
  replace: Dispatch<SetStateAction<Attached[]>>;
  replaceFiles: Dispatch<SetStateAction<TextFile[]>>;
  onPaste(event: ClipboardEvent): void;
}

export interface AttachmentsOptions {
  /** Is given a sentence where something cannot go with the prompt. */
  tell: (problem: string | null) => void;
  /** Why no image can go with it, or null. */
  noImages: string | null;
  images?: Attached[] | undefined;
  files?: TextFile[] | undefined;
}

/** The images and text files that go with the next prompt. */
export function useAttachments({ tell, noImages, ...first }: AttachmentsOptions): Attachments {
  const [images, setImages] = useState<Attached[]>(first.images ?? []);
  const [files, setFiles] = useState<TextFile[]>(first.files ?? []);
  const [busy, setBusy] = useState(0);

  // One more of its kind, unless that is too much.
  const oneMore = <T>(
    change: Dispatch<SetStateAction<T[]>>,
    one: T,
    same: (other: T) => boolean,
    problem: Problem<T>,
  ) =>
    change((before) => {
      const all = [...before.filter((each) => !same(each)), one];
      const tooMuch = problem(all);
      if (tooMuch) {
        tell(tooMuch);
      }
      return tooMuch ? before : all;
    });
  const addOne = async (file: File) => {
    if (!(await isImage(file))) {
      const text = await readTextFile(file);
      return oneMore(setFiles, text, (each) => each.name === text.name && each.text === text.text, tooMuchText);
    }
    if (noImages) {
      throw new Error(noImages);
    }
    const image = await prepareImage(file);
    oneMore<Attached>(setImages, image, (each) => each.sha256 === image.sha256, tooMuch);
  };
  const add = async (added: Iterable<File>) => {
    tell(null);
    for (const file of added) {
      setBusy((n) => n + 1);
      try {
        await addOne(file);
      } catch (cause) {
        tell(sentence(cause));
      } finally {
        setBusy((n) => n - 1);
      }
    }
  };
  return {
    images,
    files,
    busy,
    add,
    remove: (image) => setImages((before) => before.filter((each) => each !== image)),
    removeFile: (file) => setFiles((before) => before.filter((each) => each !== file)),
    replace: setImages,
    replaceFiles: setFiles,
    onPaste: (event) => {
      const pasted = [...(event.clipboardData?.files ?? [])];
      if (pasted.length > 0) {
        event.preventDefault();
        void add(pasted);
      }
    },
  };
}

type Problem<T> = (all: T[]) => string | null;

function tooMuchText(files: TextFile[]): string | null {
  const size = files.reduce((sum, { text }) => sum + new Blob([text]).size, 0);
  return size > MAX_TEXT_FILES ? t("chat.attached.tooMuch") : null;
}

function tooMuch(images: Attached[]): string | null {
  if (images.length > MAX_IMAGES) {
    return t("chat.images.aMessageCanHaveAt", { max: MAX_IMAGES });
  }
  const size = images.reduce((sum, image) => sum + ("blob" in image ? image.blob.size : (image.size ?? 0)), 0);
  return size > MAX_IMAGES_BYTES ? t("chat.images.theImagesOfAMessage") : null;
}
