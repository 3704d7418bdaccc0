import { useState } from "react";
import type { OutgoingPrompt, SessionView } from "../../api/contract";
import type { QueuedPrompt, QueueItem } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { ArrowUpIcon, ClockIcon, EditIcon, MachineIcon, TrashIcon, WarningIcon } from "../../components/icons";
import { useToast } from "../../components/Toast";
import { sentence } from "../shared/errors";
import { QueueEditSheet } from "./QueueEditSheet";
import { Prompt, State } from "./UserRow";

export interface OutgoingRowsProps {
  prompts: OutgoingPrompt[];
  /** What waits on the host. */
  queue: QueuedPrompt[];
  /** A turn runs, which could be steered. */
  running: boolean;
  view: SessionView;
}

/** Prompts on their way, oldest first. */
export function OutgoingRows({ prompts, queue, running, view }: OutgoingRowsProps) {
  return prompts.map((prompt) => (
    <OutgoingRow key={prompt.clientKey} prompt={prompt} queue={queue} running={running} view={view} />
  ));
}

interface OutgoingRowProps extends Omit<OutgoingRowsProps, "prompts"> {
  prompt: OutgoingPrompt;
}

function OutgoingRow({ prompt, queue, running, view }: OutgoingRowProps) {
  const place = queue.findIndex((each) => each.clientKey === prompt.clientKey);
  return (
    <Prompt text={prompt.text} mine={prompt.mine} clientId={undefined} waiting>
      {prompt.state === "device" ? (
        <State state="device" icon={<ClockIcon />}>
          queued on this device
        </State>
      ) : null}
      {prompt.state === "host" ? (
        <State state="host" icon={<MachineIcon />}>
          {prompt.steer && running ? "on the host, for its next step" : "on the host"}
        </State>
      ) : null}
      {place >= 0 ? <QueueButtons place={place} queue={queue} running={running} view={view} /> : null}
      {prompt.state === "failed" ? (
        <div className="flex w-full flex-wrap items-center gap-2">
          <State state="failed" icon={<WarningIcon className="text-danger" />}>
            <span className="text-danger">not sent: {prompt.error ?? "the machine refused it"}</span>
          </State>
          <span className="ml-auto flex gap-2">
            <Button onClick={() => view.retry(prompt.clientKey)}>Try again</Button>
            <Button tone="quiet" onClick={() => view.discard(prompt.clientKey)}>
              Discard
            </Button>
          </span>
        </div>
      ) : null}
    </Prompt>
  );
}

interface QueueButtonsProps extends Omit<OutgoingRowsProps, "prompts"> {
  /** Of the prompt in the queue. */
  place: number;
}

/** Changes one prompt that waits on the host. */
function QueueButtons({ place, queue, running, view }: QueueButtonsProps) {
  const toast = useToast();
  const [editing, setEditing] = useState(false);
  const prompt = queue[place];
  if (!prompt) return null;
  const items = queue.map(({ clientKey }): QueueItem => ({ clientKey }));
  const change = (next: QueueItem[]) => view.editQueue(next).catch((cause: unknown) => toast(sentence(cause)));
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
          Say it now
        </Button>
      ) : null}
      {place > 0 ? (
        <IconButton label="Move it up in the queue" onClick={() => change(up())}>
          <ArrowUpIcon />
        </IconButton>
      ) : null}
      <IconButton label="Change this message" onClick={() => setEditing(true)}>
        <EditIcon />
      </IconButton>
      <IconButton label="Remove this message" onClick={() => change(items.filter((_, i) => i !== place))}>
        <TrashIcon />
      </IconButton>
      {editing ? (
        <QueueEditSheet
          text={prompt.text}
          onSave={(text) => view.editQueue(replaced({ clientKey: prompt.clientKey, text }))}
          onClose={() => setEditing(false)}
        />
      ) : null}
    </span>
  );
}
