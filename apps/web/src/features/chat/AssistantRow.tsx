import { blocksOf } from "@scorel/protocol/tree";
import { memo } from "react";
import type { AssistantMessage, Block } from "../../api/types";
import { Badge } from "../../components/Badge";
import { CopyButton } from "../../components/CopyButton";
import { WarningIcon } from "../../components/icons";
import { Notice } from "../../components/Notice";
import { Markdown } from "./Markdown";
import { PlaceMenu } from "./PlaceMenu";
import { Thinking } from "./Thinking";
import { ToolCard } from "./ToolCard";
import { nothing, type ToolFacts } from "./tool-facts";

export interface AssistantRowProps {
  entryId: string;
  message: AssistantMessage;
  tools: ReadonlyMap<string, ToolFacts>;
  /** The first of a turn says which model speaks. */
  first: boolean;
}

export const AssistantRow = memo(function AssistantRow({ entryId, message, tools, first }: AssistantRowProps) {
  const blocks = blocksOf(message);
  const said = textOf(blocks);
  return (
    <article data-testid="message-assistant" data-stop={message.stopReason}>
      {first ? <Speaker model={message.model} demo={message.provider === "demo"} /> : null}
      {blocks.map((block, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a finished message never move
        <BlockView key={i} block={block} tools={tools} />
      ))}
      <Ending message={message} />
      {endsTurn(message) ? (
        <div className="-mt-2 -mr-1.5 -mb-3 flex items-center justify-end">
          {said ? <CopyButton text={said} label="Copy the answer" /> : null}
          <PlaceMenu place={{ entryId, before: false, text: said.replace(/\s+/g, " ").slice(0, 300) }} />
        </div>
      ) : null}
    </article>
  );
});

/** Nothing of the turn follows: one can go on from here. */
function endsTurn(message: AssistantMessage): boolean {
  return message.stopReason !== "toolUse" && !blocksOf(message).some((block) => block.type === "toolCall");
}

/** What was said in words, as it was written. */
function textOf(blocks: readonly Block[]): string {
  return blocks
    .flatMap((block) => (block.type === "text" ? [block.text.trim()] : []))
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Who speaks. The demo model never passes for an AI. */
export function Speaker({ model, demo }: { model: string | undefined; demo: boolean }) {
  return (
    <h2 className="caption mb-1 flex items-center gap-2 text-faint">
      {demo ? <Badge tone="warn">demo model, not an AI</Badge> : (model ?? "agent")}
    </h2>
  );
}

function BlockView({ block, tools }: { block: Block; tools: ReadonlyMap<string, ToolFacts> }) {
  switch (block.type) {
    case "text":
      return block.text ? <Markdown text={block.text} /> : null;
    case "thinking":
      return <Thinking text={block.redacted ? "" : block.thinking} />;
    case "toolCall":
      return <ToolCard id={block.id} name={block.name} args={block.arguments} facts={tools.get(block.id) ?? nothing} />;
    case "image":
      return <Picture data={block.data} mimeType={block.mimeType} />;
    default:
      return <p className="text-faint text-sm">unknown block: {String((block as { type: unknown }).type)}</p>;
  }
}

/** A picture that came with the message itself; nothing is fetched for it. */
function Picture({ data, mimeType }: { data: string; mimeType: string }) {
  if (!/^image\/(png|jpeg|gif|webp)$/.test(mimeType))
    return <p className="text-faint text-sm">[picture: {mimeType}]</p>;
  return (
    <img src={`data:${mimeType};base64,${data}`} alt="From the conversation" className="my-2 max-h-96 rounded-md" />
  );
}

function Ending({ message }: { message: AssistantMessage }) {
  switch (message.stopReason) {
    case "error":
      return <ErrorCard text={message.errorMessage ?? "The model did not answer, and gave no reason."} />;
    case "aborted":
      return <p className="caption my-2 text-faint">cancelled here</p>;
    case "length":
      return <p className="caption my-2 text-warn">cut here: the model reached its output limit</p>;
    default:
      return null;
  }
}

export function ErrorCard({ text }: { text: string }) {
  return (
    <Notice
      tone="danger"
      data-testid="turn-error"
      icon={<WarningIcon className="text-danger" />}
      title="The turn failed"
      className="my-3"
    >
      <span className="whitespace-pre-wrap">{text}</span>
    </Notice>
  );
}
