import { type ClipboardEvent, type Dispatch, type SetStateAction, useState } from "react";
import type { PromptImage } from "../../../api/contract";
import { isFile } from "../../../api/images";
import { type ImageBlock, MAX_IMAGES, MAX_IMAGES_BYTES } from "../../../api/types";
import { t } from "../../../i18n/chat";
import { sentence } from "../../shared/errors";
import { prepareFile, tooManyFiles } from "./prepare-file";
import { isImage, prepareImage } from "./prepare-image";
import { type FileInText, MAX_TEXT_FILES, nameOf, readTextFile } from "./text-files";

/** An image or file in this browser, or an image on the host. */
export type Attached = PromptImage | ImageBlock;

export interface Attachments {
  /** Images, and files that the host will store. */
  images: Attached[];
  /** Files that become part of the prompt's text. */
  files: FileInText[];
  /** How many files are being read. */
  busy: number;
  add(files: Iterable<File>): Promise<void>;
  remove(image: Attached): void;
  removeFile(file: FileInText): void;
  /** Replaces all images. */
  replace: Dispatch<SetStateAction<Attached[]>>;
  replaceFiles: Dispatch<SetStateAction<FileInText[]>>;
  onPaste(event: ClipboardEvent): void;
}

export interface AttachmentsOptions {
  /** Called with a sentence when something cannot be sent with the prompt. */
  tell: (problem: string | null) => void;
  /** Why images cannot be sent, or null. */
  noImages: string | null;
  /** The largest file that the host stores, in bytes; 0 if it stores none. */
  maxFile: number;
  images?: Attached[] | undefined;
  files?: FileInText[] | undefined;
}

/** The images and files attached to the next prompt. */
export function useAttachments({ tell, noImages, maxFile, ...first }: AttachmentsOptions): Attachments {
  const [images, setImages] = useState<Attached[]>(first.images ?? []);
  const [files, setFiles] = useState<FileInText[]>(first.files ?? []);
  const [busy, setBusy] = useState(0);

  // Adds one, unless that exceeds a limit.
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
      if (text) {
        const same = (each: FileInText) => "text" in each && each.name === text.name && each.text === text.text;
        return oneMore<FileInText>(setFiles, text, same, tooMuchText);
      }
      if (maxFile === 0) {
        throw new Error(t("chat.attached.needsUpdate", { name: nameOf(file) }));
      }
      const stored = await prepareFile(file, maxFile);
      return oneMore<Attached>(setImages, stored, (each) => each.sha256 === stored.sha256, tooManyFiles);
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
      const { files, types } = event.clipboardData;
      const pasted = [...files];
      // Office programs add a picture of the copied text.
      const formatted = types.includes("text/plain") && types.includes("text/html");
      if (pasted.length > 0 && !formatted) {
        event.preventDefault();
        void add(pasted);
      }
    },
  };
}

type Problem<T> = (all: T[]) => string | null;

function tooMuchText(files: FileInText[]): string | null {
  const size = files.reduce((sum, file) => sum + ("text" in file ? new Blob([file.text]).size : 0), 0);
  return size > MAX_TEXT_FILES ? t("chat.attached.tooMuch") : null;
}

function tooMuch(all: Attached[]): string | null {
  const images = all.filter((each) => !isFile(each));
  if (images.length > MAX_IMAGES) {
    return t("chat.images.aMessageCanHaveAt", { max: MAX_IMAGES });
  }
  const size = images.reduce((sum, image) => sum + ("blob" in image ? image.blob.size : (image.size ?? 0)), 0);
  return size > MAX_IMAGES_BYTES ? t("chat.images.theImagesOfAMessage") : null;
}
