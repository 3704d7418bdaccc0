import type { PromptImage } from "../../../api/contract";
import { imageType, namedImage } from "../../../api/images";
import { MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS } from "../../../api/types";
import { t } from "../../../i18n/chat";

/** The longer side of an image that had to be made smaller. Models see no more than this of any. */
const SMALLER = 2000;

/** Whether a file is an image, or calls itself one. */
export async function isImage(file: File): Promise<boolean> {
  // What is drawn as text, such as SVG, is text to a model.
  return (file.type.startsWith("image/") && file.type !== "image/svg+xml") || (await typeOf(file)) !== null;
}

async function typeOf(file: File): Promise<string | null> {
  return imageType(new Uint8Array(await file.slice(0, 16).arrayBuffer()));
}

/** A file as an image of a prompt: as it is where the host takes it, else smaller. Rejects with a sentence. */
export async function prepareImage(file: File): Promise<PromptImage> {
  const type = await typeOf(file);
  if (!type) {
    throw new Error(t("chat.images.isNotAPngJpeg", { name: file.name || t("chat.images.theFile") }));
  }
  const blob = new Blob([file], { type });
  const picture = await createImageBitmap(blob).catch(() => null);
  if (!picture) {
    throw new Error(t("chat.images.isDamagedAndCannotBe", { name: file.name || t("chat.images.theImage") }));
  }
  try {
    const longest = Math.max(picture.width, picture.height);
    if (blob.size <= MAX_IMAGE_BYTES && longest <= MAX_IMAGE_PIXELS) {
      return await namedImage(blob);
    }
    return await namedImage(await smaller(picture, Math.min(1, SMALLER / longest)));
  } finally {
    picture.close();
  }
}

async function smaller(picture: ImageBitmap, scale: number): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const context = canvas.getContext("2d");
  if (!context) {
    throw new Error(t("chat.images.thisBrowserCannotMakeThe"));
  }
  context.fillStyle = "#fff"; // a JPEG has no transparency
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.85));
  if (!blob || blob.size > MAX_IMAGE_BYTES) {
    throw new Error(t("chat.images.theImageIsTooLarge"));
  }
  return blob;
}
