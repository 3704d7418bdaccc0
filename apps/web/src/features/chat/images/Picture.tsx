import { IMAGE_TYPES } from "../../../api/images";
import type { ImageBlock } from "../../../api/types";
import { t } from "../../../i18n/chat";
import { useBlobUrl, useImage } from "./images-context";

/** The images of a message, side by side. */
export function Pictures({ blocks }: { blocks: ImageBlock[] }) {
  if (blocks.length === 0) {
    return null;
  }
  return (
    <div data-testid="pictures" className="my-2 flex flex-wrap gap-2">
      {blocks.map((block, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: images may repeat, and the order never changes
        <Picture key={i} block={block} />
      ))}
    </div>
  );
}

/** An image of the conversation. Its bytes come from the host, or with the message from an older host. */
export function Picture({ block }: { block: ImageBlock }) {
  if (!IMAGE_TYPES.includes(block.mimeType)) {
    return <Stand block={block}>{t("chat.images.imageOfType", { mimeType: block.mimeType })}</Stand>;
  }
  if (block.data) {
    return <Shown block={block} url={`data:${block.mimeType};base64,${block.data}`} />;
  }
  if (block.sha256) {
    return <Fetched block={block} sha256={block.sha256} />;
  }
  return <Stand block={block}>{t("chat.images.imageNotAvailable")}</Stand>;
}

function Fetched({ block, sha256 }: { block: ImageBlock; sha256: string }) {
  const image = useImage(sha256);
  const url = useBlobUrl(image instanceof Blob ? image : null);
  if (image === "failed") {
    return <Stand block={block}>{t("chat.images.imageNotAvailable")}</Stand>;
  }
  if (!url) {
    return <Stand block={block}>{t("chat.images.loadingImage")}</Stand>;
  }
  return <Shown block={block} url={url} />;
}

function Shown({ block, url }: { block: ImageBlock; url: string }) {
  const size = block.width && block.height ? { width: block.width, height: block.height } : {};
  return (
    <a href={url} target="_blank" rel="noreferrer" className="block max-w-full">
      <img
        data-testid="picture"
        src={url}
        alt={alt(block)}
        {...size}
        className="max-h-64 w-auto max-w-full rounded-md border border-line object-contain"
      />
    </a>
  );
}

/** Reserves the place of an image, so that nothing moves when it is loaded. */
function Stand({ block, children }: { block: ImageBlock; children: React.ReactNode }) {
  const ratio = block.width && block.height ? { aspectRatio: `${block.width} / ${block.height}` } : {};
  const height = Math.min(block.height ?? 96, 256);
  return (
    <div
      style={{ height, ...ratio }}
      className="grid min-w-32 max-w-full place-items-center rounded-md border border-line bg-sunken px-3 text-faint text-sm"
    >
      <span>{children}</span>
    </div>
  );
}

function alt({ width, height }: ImageBlock): string {
  return width && height ? t("chat.images.imagePixels", { width, height }) : t("chat.images.imageTitle");
}
