import { useState } from "react";
import type { ImageBlock, QueueItem } from "../../../api/types";
import { Button } from "../../../components/Button";
import { ErrorText } from "../../../components/ErrorText";
import { Sheet } from "../../../components/Sheet";
import { t } from "../../../i18n/chat";
import { useAct } from "../../shared/use-act";
import { AttachedFiles } from "../attached/AttachedFiles";
import { AttachedImages } from "../images/AttachedImages";
import { joinFiles, splitFiles } from "../images/text-files";

export interface QueueEditSheetProps {
  text: string;
  images: ImageBlock[];
  onSave: (change: Omit<QueueItem, "clientKey">) => Promise<void>;
  onClose: () => void;
}

/** Edits a queued prompt: its text, and which of its images and files are sent. */
export default function QueueEditSheet({ text, images, onSave, onClose }: QueueEditSheetProps) {
  const [began] = useState(() => splitFiles(text));
  const [draft, setDraft] = useState(began.text);
  const [files, setFiles] = useState(began.files);
  const [kept, setKept] = useState(images);
  const { busy, error, act } = useAct();
  const whole = joinFiles(draft === began.text ? draft : draft.trim(), files);
  const dropped = images.filter((image) => !kept.includes(image)).map(({ sha256 = "" }) => sha256);
  const save = () =>
    act("save", async () => {
      await onSave({
        ...(whole === text ? {} : { text: whole }),
        ...(dropped.length > 0 ? { dropImages: dropped } : {}),
      });
      onClose();
    });
  // For the host, an empty text means an unchanged one.
  const emptied = whole === "" && (text !== "" || kept.length === 0);
  return (
    <Sheet
      title={t("chat.queue.editQueuedMessage")}
      onClose={onClose}
      footer={
        <Button tone="primary" busy={busy !== null} disabled={emptied} onClick={save}>
          {t("chat.queue.save")}
        </Button>
      }
    >
      <div className="rounded-md border border-line-strong bg-surface focus-within:border-accent">
        <AttachedImages
          images={kept}
          busy={0}
          onRemove={(image) => setKept((before) => before.filter((each) => each !== image))}
        />
        <AttachedFiles
          files={files}
          onRemove={(file) => setFiles((before) => before.filter((each) => each !== file))}
        />
        <textarea
          aria-label={t("chat.queue.message")}
          value={draft}
          rows={6}
          onChange={(event) => setDraft(event.target.value)}
          className="block w-full bg-transparent px-3 py-2 text-base outline-none"
        />
      </div>
      <ErrorText className="mt-2">{error}</ErrorText>
    </Sheet>
  );
}
