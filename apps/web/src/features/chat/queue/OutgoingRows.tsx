import { lazy, useContext, useState } from "react";
import type { OutgoingPrompt, PromptImage, SessionView } from "../../../api/contract";
import { isFile } from "../../../api/images";
import type { ImageBlock, QueuedPrompt, QueueItem } from "../../../api/types";
import { Button, IconButton } from "../../../components/Button";
import { ArrowUpIcon, ClockIcon, EditIcon, MachineIcon, TrashIcon, WarningIcon } from "../../../components/icons";
import { useToast } from "../../../components/Toast";
import { t } from "../../../i18n/chat";
import { LazyPart } from "../../shared/MissingPart";
import { chunk } from "../../shared/missing-chunk";
import { HostHelp, withHelp } from "../../shared/with-help";
import { FileChip } from "../attached/AttachedFiles";
import { InsertContext } from "../context/history-context";
import { Thumbnail } from "../images/AttachedImages";
import { Picture } from "../images/Picture";
import { Prompt, State } from "../messages/UserRow";

const QueueEditSheet = lazy(chunk(() => import("./QueueEditSheet")));

export interface OutgoingRowsProps {
  prompts: OutgoingPrompt[];
  /** The prompts in the host's queue. */
  queue: QueuedPrompt[];
  /** Whether a turn is running, which could be steered. */
  running: boolean;
  view: SessionView;
}

/** The prompts that are not in the log, oldest first. */
export function OutgoingRows({ prompts, queue, running, view }: OutgoingRowsProps) {
  return prompts.map((prompt) => (
    <OutgoingRow key={prompt.clientKey} prompt={prompt} queue={queue} running={running} view={view} />
  ));
}

/** The images and files of an unsent or queued prompt: those of this browser, and images that only the host has. */
export function OutgoingPictures({ images }: { images: (PromptImage | ImageBlock)[] }) {
  if (images.length === 0) {
    return null;
  }
  return (
    <div className="my-2 flex flex-wrap items-end gap-2">
      {images.map((image, i) =>
        isFile(image) ? (
          <FileChip key={image.sha256} file={image} />
        ) : "blob" in image ? (
          <Thumbnail key={image.sha256} image={image} alt={t("chat.queue.image", { number: i + 1 })} />
        ) : (
          <Picture key={image.sha256 ?? i} block={image} />
        ),
      )}
    </div>
  );
}

interface OutgoingRowProps extends Omit<OutgoingRowsProps, "prompts"> {
  prompt: OutgoingPrompt;
}

function OutgoingRow({ prompt, queue, running, view }: OutgoingRowProps) {
  const place = queue.findIndex((each) => each.clientKey === prompt.clientKey);
  return (
    <Prompt
      text={prompt.text}
      mine={prompt.mine}
      clientId={queue[place]?.clientId}
      pictures={<OutgoingPictures images={prompt.images ?? []} />}
      waiting
    >
      {prompt.state === "device" ? (
        <State state="device" icon={<ClockIcon />}>
          {prompt.progress === undefined
            ? t("chat.queue.waitingToSend")
            : t("chat.queue.uploading", { percent: Math.round(prompt.progress * 100) })}
        </State>
      ) : null}
      {prompt.unstored ? <NotStored /> : null}
      {prompt.state === "host" ? (
        <State state="host" icon={<MachineIcon />}>
          {prompt.steer && running ? t("chat.queue.willBeReadAtThe") : t("chat.queue.queued")}
        </State>
      ) : null}
      {place >= 0 ? <QueueButtons shown={prompt} place={place} queue={queue} running={running} view={view} /> : null}
      {prompt.state === "failed" ? <FailedPrompt prompt={prompt} view={view} /> : null}
    </Prompt>
  );
}

/** Warns that a prompt is lost when the page is closed. */
export function NotStored() {
  return (
    <span data-testid="not-stored" className="inline-flex items-center gap-1 text-warn">
      <WarningIcon /> {t("chat.queue.notSaved")}
    </span>
  );
}

/** Returns a function that says that a prompt is gone, and offers to send it again. */
function useUndo(view: SessionView, { text, images, steer }: OutgoingPrompt): (done: string) => void {
  const toast = useToast();
  return (done) => toast(done, { label: t("chat.queue.undo"), run: () => void view.send(text, steer, images) });
}

/** Shows why the host rejected a prompt, with buttons to retry or discard it. */
function FailedPrompt({ prompt, view }: Pick<OutgoingRowProps, "prompt" | "view">) {
  const insert = useContext(InsertContext);
  const undo = useUndo(view, prompt);
  const { clientKey, text, images = [], steer, error, kind } = prompt;
  const files = images.filter(isFile);
  const instead = (act: () => void) => () => {
    view.discard(clientKey);
    act();
  };
  return (
    <div className="flex w-full flex-wrap items-center gap-2">
      <State state="failed" icon={<WarningIcon className="text-danger" />}>
        <span className="text-danger">
          {t("chat.queue.notSent", { reason: error ?? t("chat.queue.theMachineRefusedIt") })} <HostHelp kind={kind} />
        </span>
      </State>
      <span className="ml-auto flex flex-wrap gap-2">
        <Button onClick={() => view.retry(clientKey)}>{t("chat.queue.tryAgain")}</Button>
        {files.length < images.length && text !== "" ? (
          <Button data-testid="send-without-images" onClick={instead(() => view.send(text, steer, files))}>
            {t("chat.queue.sendWithoutImages")}
          </Button>
        ) : null}
        {insert ? (
          <Button tone="quiet" data-testid="edit-failed" onClick={instead(() => insert({ text, images }))}>
            {t("chat.queue.edit")}
          </Button>
        ) : null}
        <Button tone="quiet" onClick={instead(() => undo(t("chat.queue.discarded")))}>
          {t("chat.queue.discard")}
        </Button>
      </span>
    </div>
  );
}

interface QueueButtonsProps extends Omit<OutgoingRowsProps, "prompts"> {
  shown: OutgoingPrompt;
  /** The index of the prompt in the queue. */
  place: number;
}

/** The buttons that change one prompt in the host's queue. */
function QueueButtons({ shown, place, queue, running, view }: QueueButtonsProps) {
  const toast = useToast();
  const undo = useUndo(view, shown);
  const [editing, setEditing] = useState(false);
  const prompt = queue[place];
  if (!prompt) {
    return null;
  }
  const items = queue.map(({ clientKey }): QueueItem => ({ clientKey }));
  const change = (next: QueueItem[], done = () => {}) =>
    view.editQueue(next).then(done, (cause: unknown) => toast(withHelp(cause)));
  const replaced = (item: QueueItem) => items.map((each, i) => (i === place ? item : each));
  const up = () => [
    ...items.slice(0, place - 1),
    ...items.slice(place - 1, place + 1).reverse(),
    ...items.slice(place + 1),
  ];
  return (
    <span data-testid="queue-buttons" className="-my-2 ml-auto inline-flex items-center">
      {running && prompt.mode !== "steer" ? (
        <Button
          tone="quiet"
          className="px-2!"
          onClick={() =>
            change([{ clientKey: prompt.clientKey, mode: "steer" }, ...items.filter((_, i) => i !== place)])
          }
        >
          {t("chat.queue.sendNow")}
        </Button>
      ) : null}
      {place > 0 ? (
        <IconButton label={t("chat.queue.moveUpInTheQueue")} onClick={() => change(up())}>
          <ArrowUpIcon />
        </IconButton>
      ) : null}
      <IconButton label={t("chat.queue.editQueuedMessage")} onClick={() => setEditing(true)}>
        <EditIcon />
      </IconButton>
      <IconButton
        label={t("chat.queue.removeQueuedMessage")}
        onClick={() =>
          change(
            items.filter((_, i) => i !== place),
            () => undo(t("chat.queue.removed")),
          )
        }
      >
        <TrashIcon />
      </IconButton>
      <LazyPart onClose={() => setEditing(false)}>
        {editing ? (
          <QueueEditSheet
            text={prompt.text}
            images={(prompt.content ?? []).filter((block) => block.type === "image")}
            onSave={(change) => view.editQueue(replaced({ clientKey: prompt.clientKey, ...change }))}
            onClose={() => setEditing(false)}
          />
        ) : null}
      </LazyPart>
    </span>
  );
}
