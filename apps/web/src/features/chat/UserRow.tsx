import { blocksOf } from "@scorel/protocol/tree";
import { memo, type ReactNode } from "react";
import type { MessageEntry, UserMessage } from "../../api/types";
import { CheckIcon } from "../../components/icons";
import { clock } from "../shared/time";
import { useNames } from "./live-context";
import { PlaceMenu } from "./PlaceMenu";

/** A prompt that is in the log: the agent has taken it. */
export const UserRow = memo(function UserRow(props: { entry: MessageEntry; message: UserMessage; mine: boolean }) {
  const { entry, message, mine } = props;
  const text = blocksOf(message)
    .map((block) => (block.type === "text" ? block.text : block.type === "image" ? "[picture]" : ""))
    .join("");
  return (
    <Prompt text={text} mine={mine} clientId={entry.clientId}>
      {mine ? (
        <State state="taken" icon={<CheckIcon />}>
          taken {clock(message.timestamp)}
        </State>
      ) : (
        <span>{clock(message.timestamp)}</span>
      )}
      {entry.steer ? <span>said while it worked</span> : null}
      <span className="-my-2 ml-auto">
        {entry.steer ? null : <PlaceMenu place={{ entryId: entry.id, before: true, text }} />}
      </span>
    </Prompt>
  );
});

export interface PromptProps {
  text: string;
  mine: boolean;
  clientId: string | undefined;
  waiting?: boolean;
  children: ReactNode;
}

/** The frame of a prompt. */
export function Prompt({ text, mine, clientId, waiting = false, children }: PromptProps) {
  const nameOf = useNames();
  return (
    <article
      data-testid="message-user"
      data-mine={mine}
      className={`mt-6 mb-4 rounded-md border-l-[3px] bg-sunken py-2.5 pr-4 pl-3.5 ${mine ? "border-accent" : "border-line-strong"} ${waiting ? "border-dashed" : ""}`}
    >
      <h2 className="sr-only">{mine ? "You" : nameOf(clientId)}</h2>
      <p dir="auto" className="whitespace-pre-wrap break-words [overflow-wrap:anywhere]">
        {text}
      </p>
      <div className="caption mt-1 flex flex-wrap items-center gap-x-2 text-faint">
        {mine ? null : <span>from {nameOf(clientId)}</span>}
        {children}
      </div>
    </article>
  );
}

/** How far a prompt got. */
export function State({ state, icon, children }: { state: string; icon: ReactNode; children: ReactNode }) {
  return (
    <span data-testid="message-state" data-state={state} className="inline-flex items-center gap-1">
      {icon}
      {children}
    </span>
  );
}
