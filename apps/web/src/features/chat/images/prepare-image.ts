import type { PromptImage } from "../../../api/contract";
import { imageType, namedImage } from "../../../api/images";
import { MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS } from "../../../api/types";
import { t } from "../../../i18n/chat";

/** The longer side of an image that was scaled down. Models use no more than this. */
const SMALLER = 2000;

/** Reports whether a file is an image or claims to be one. */
export async function isImage(file: File): Promise<boolean> {
  // For a model, images that are text, such as SVG, are text.
  return (file.type.startsWith("image/") && file.type !== "image/svg+xml") || (await typeOf(file)) !== null;
}

async function typeOf(file: File): Promise<string | null> {
  return imageType(new Uint8Array(await file.slice(0, 16).arrayBuffer()));
}

/**
 * Reads a file as an image of a prompt: unchanged if the host accepts it, otherwise scaled down. Rejects with a
 * sentence.
 */
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
