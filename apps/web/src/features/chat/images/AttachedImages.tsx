import { type ChangeEvent, type InputHTMLAttributes, type ReactNode, useRef } from "react";
import type { PromptImage } from "../../../api/contract";
import { IconButton } from "../../../components/Button";
import { AttachIcon, CameraIcon, CloseIcon } from "../../../components/icons";
import { Spinner } from "../../../components/Spinner";
import { t } from "../../../i18n/chat";
import { sizeText } from "../../shared/size-text";
import { useBlobUrl, useImage } from "./images-context";
import type { Attached } from "./use-attachments";

/** The images attached to the next prompt as thumbnails, each with a button that removes it. */
export function AttachedImages(props: { images: Attached[]; busy: number; onRemove: (image: Attached) => void }) {
  const { images, busy, onRemove } = props;
  if (images.length === 0 && busy === 0) {
    return null;
  }
  return (
    <ul
      data-testid="attached-images"
      data-unsent
      aria-label={t("chat.images.imagesOfThisMessage")}
      className="flex flex-wrap gap-3 px-3.5 pt-3"
    >
      {images.map((image, i) => (
        <li key={image.sha256 ?? i} className="relative">
          {"blob" in image ? (
            <Thumbnail image={image} alt={t("chat.images.image", { number: i + 1 })} />
          ) : (
            <FetchedThumbnail sha256={image.sha256 ?? ""} alt={t("chat.images.image", { number: i + 1 })} />
          )}
          <IconButton
            label={t("chat.images.removeImage", { number: i + 1 })}
            onClick={() => onRemove(image)}
            className="-top-4 -right-4 absolute! hover:bg-transparent"
          >
            <span className="grid size-6 place-items-center rounded-full border border-line bg-surface text-sm shadow-sm">
              <CloseIcon />
            </span>
          </IconButton>
        </li>
      ))}
      {busy > 0 ? (
        <li className="grid size-20 place-items-center rounded-md border border-line bg-sunken">
          <Spinner />
          <span className="sr-only">{t("chat.images.loadingAnImage")}</span>
        </li>
      ) : null}
    </ul>
  );
}

/** A square thumbnail of an image on the host. */
function FetchedThumbnail({ sha256, alt }: { sha256: string; alt: string }) {
  const blob = useImage(sha256);
  return <Square blob={blob === "failed" ? null : blob} alt={alt} />;
}

/** A square thumbnail of an image in this browser. */
export function Thumbnail({ image, alt }: { image: PromptImage; alt: string }) {
  return <Square blob={image.blob} alt={alt} />;
}

function Square({ blob, alt }: { blob: Blob | null; alt: string }) {
  const url = useBlobUrl(blob);
  const frame = "block size-20 rounded-md border border-line bg-sunken object-cover";
  return url ? <img src={url} alt={alt} className={frame} /> : <span role="img" aria-label={alt} className={frame} />;
}

interface PickerProps {
  disabled: boolean;
  onFiles: (files: File[]) => void;
}

export interface AttachButtonProps extends PickerProps {
  /** The largest file that the host stores, in bytes; 0 if it stores none. */
  maxFile: number;
}

/** Picks images and files from the device. */
export function AttachButton({ maxFile, ...props }: AttachButtonProps) {
  return (
    <Picker {...props} name="attach" label={attachText(maxFile)} of={{ multiple: true }}>
      <AttachIcon />
    </Picker>
  );
}

/** Opens the camera of a phone. */
export function CameraButton(props: PickerProps) {
  const label = t("chat.attached.takePhoto");
  return (
    <Picker {...props} name="camera" label={label} of={{ accept: "image/*", capture: "environment" }}>
      <CameraIcon />
    </Picker>
  );
}

interface PickerButtonProps extends PickerProps {
  name: string;
  label: string;
  /** What it picks. */
  of: InputHTMLAttributes<HTMLInputElement>;
  children: ReactNode;
}

function Picker({ disabled, onFiles, name, label, of, children }: PickerButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  const change = (event: ChangeEvent<HTMLInputElement>) => {
    onFiles([...(event.target.files ?? [])]);
    event.target.value = ""; // so that the same file can be picked again
  };
  return (
    <>
      <IconButton data-testid={name} label={label} disabled={disabled} onClick={() => input.current?.click()}>
        {children}
      </IconButton>
      <input ref={input} {...of} data-testid={`${name}-input`} type="file" hidden onChange={change} />
    </>
  );
}

function attachText(maxFile: number): string {
  return maxFile > 0 ? t("chat.attached.attach", { size: sizeText(maxFile) }) : t("chat.attached.attachText");
}
