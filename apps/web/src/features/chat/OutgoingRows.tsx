import type { OutgoingPrompt, SessionView } from "../../api/contract";
import { Button } from "../../components/Button";
import { ClockIcon, MachineIcon, WarningIcon } from "../../components/icons";
import { Prompt, State } from "./UserRow";

/** Prompts on their way, oldest first. */
export function OutgoingRows({ prompts, view }: { prompts: OutgoingPrompt[]; view: SessionView }) {
  return prompts.map((prompt) => <OutgoingRow key={prompt.clientKey} prompt={prompt} view={view} />);
}

function OutgoingRow({ prompt, view }: { prompt: OutgoingPrompt; view: SessionView }) {
  return (
    <Prompt text={prompt.text} mine={prompt.mine} clientId={undefined} waiting>
      {prompt.state === "device" ? (
        <State state="device" icon={<ClockIcon />}>
          queued on this device
        </State>
      ) : null}
      {prompt.state === "host" ? (
        <State state="host" icon={<MachineIcon />}>
          on the host
        </State>
      ) : null}
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
