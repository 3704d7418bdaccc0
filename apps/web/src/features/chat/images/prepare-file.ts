import type { PromptImage } from "../../../api/contract";
import { isFile, namedImage } from "../../../api/images";
import { type ImageBlock, MAX_FILES, MAX_FILES_BYTES } from "../../../api/types";
import { t } from "../../../i18n/chat";
import { sizeText } from "../../shared/size-text";
import { bytesOf, nameOf } from "./text-files";

/** Reads a file that the host will store. Rejects with a sentence. */
export async function prepareFile(file: File, most: number): Promise<PromptImage> {
  const name = nameOf(file);
  if (file.size > most) {
    throw new Error(t("chat.attached.tooLarge", { name, size: sizeText(most) }));
  }
  if (file.size === 0) {
    throw new Error(t("chat.attached.unreadable", { name }));
  }
  // The bytes instead of the file, which may change or disappear before it is sent.
  return { ...(await namedImage(new Blob([await bytesOf(file)]))), name };
}

/** Returns why these files cannot be sent with one prompt, or null. */
export function tooManyFiles(all: (PromptImage | ImageBlock)[]): string | null {
  const files = all.filter(isFile);
  if (files.length > MAX_FILES) {
    return t("chat.attached.tooMany", { max: MAX_FILES });
  }
  const size = files.reduce((sum, { blob }) => sum + blob.size, 0);
  return size > MAX_FILES_BYTES ? t("chat.attached.tooMuchInFiles", { size: sizeText(MAX_FILES_BYTES) }) : null;
}
