import { blocksOf } from "@scorel/protocol/tree";
import { memo, type ReactNode, useState } from "react";
import type { AssistantMessage, Block, PartialBlock, ThinkingBlock } from "../../../api/types";
import { Badge } from "../../../components/Badge";
import { CopyButton } from "../../../components/CopyButton";
import { WarningIcon } from "../../../components/icons";
import { Notice } from "../../../components/Notice";
import { t } from "../../../i18n/chat";
import { readRuns } from "../calls/reads";
import { nothing, type ToolFacts } from "../calls/tool-facts";
import type { ReadFold } from "../context/live-context";
import { Picture } from "../images/Picture";
import { Markdown } from "../text/Markdown";
import { ReadsLine } from "../tools/ReadsLine";
import { ToolCard } from "../tools/ToolCard";
import { PlaceMenu } from "./PlaceMenu";
import { Thinking } from "./Thinking";
import { WritingCall } from "./WritingCall";

export interface AssistantRowProps {
  entryId: string;
  message: AssistantMessage;
  tools: ReadonlyMap<string, ToolFacts>;
  /** Whether it is the first answer of a turn, which shows the model. */
  first: boolean;
  /** How the reads at its end are folded with those of the rows around it. */
  fold?: ReadFold | null;
  /** The blocks received so far, while it streams. */
  writing?: readonly PartialBlock[] | undefined;
}

/** An answer. A streaming one keeps its elements when it ends. */
export const AssistantRow = memo(function AssistantRow(props: AssistantRowProps) {
  const { entryId, message, first, writing } = props;
  return (
    <article
      data-testid="message-assistant"
      data-streaming={writing ? true : undefined}
      aria-busy={writing ? true : undefined}
      data-stop={writing ? undefined : message.stopReason}
    >
      {first ? <Speaker model={message.model} demo={message.provider === "demo"} /> : null}
      <Blocks {...props} />
      {writing ? null : <Ending message={message} />}
      {writing || !endsTurn(message) ? null : <Foot entryId={entryId} message={message} />}
    </article>
  );
}, isSame);

/** The actions for an answer that ends a turn. */
function Foot({ entryId, message }: Pick<AssistantRowProps, "entryId" | "message">) {
  const said = textOf(blocksOf(message));
  return (
    <div className="-mt-2 -mr-1.5 -mb-3 flex items-center justify-end">
      {said ? <CopyButton text={said} label={t("chat.messages.copyTheAnswer")} /> : null}
      <PlaceMenu place={{ entryId, before: false, text: said.replace(/\s+/g, " ").slice(0, 300) }} />
    </div>
  );
}

/** Compares by what is shown: equal folds may be different objects. */
function isSame(
  { fold: before = null, ...a }: AssistantRowProps,
  { fold: after = null, ...b }: AssistantRowProps,
): boolean {
  return (
    (Object.keys(a) as (keyof typeof a)[]).every((name) => a[name] === b[name]) &&
    before?.open === after?.open &&
    before?.head === after?.head &&
    before?.calls.length === after?.calls.length
  );
}

/** The blocks of a message, in order. Consecutive reads are one line until it is opened. */
function Blocks({ message, tools, fold = null, writing }: AssistantRowProps) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  if (writing) {
    return writing.map((block, i) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks of a message are only ever appended
      <BlockView key={i} block={block} tools={tools} writing last={i === writing.length - 1} />
    ));
  }
  const blocks = blocksOf(message);
  const runs = readRuns(message, tools);
  const shown: ReactNode[] = [];
  blocks.forEach((block, i) => {
    const run = runs.find(({ from, to }) => from <= i && i < to);
    const shared = fold !== null && run?.to === blocks.length;
    const folded = run && (shared || run.calls.length > 1);
    const isOpen = folded && (shared ? fold.open : open.has(run.from));
    if (folded && i === run.from && (!shared || fold.head)) {
      const toggle = () => setOpen((now) => new Set(isOpen ? [...now].filter((at) => at !== i) : [...now, i]));
      shown.push(
        <ReadsLine
          key={`reads ${run.from}`}
          calls={shared ? fold.calls : run.calls}
          open={isOpen ?? false}
          onToggle={shared ? fold.toggle : toggle}
        />,
      );
    }
    if (!folded || isOpen) {
      // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a finished message never move
      shown.push(<BlockView key={i} block={block} tools={tools} />);
    }
  });
  return shown;
}

/** Reports whether the turn ends with this message, so that a branch can begin here. */
function endsTurn(message: AssistantMessage): boolean {
  return message.stopReason !== "toolUse" && !blocksOf(message).some((block) => block.type === "toolCall");
}

/** Returns the text of the blocks as written. */
function textOf(blocks: readonly Block[]): string {
  return blocks
    .flatMap((block) => (block.type === "text" ? [block.text.trim()] : []))
    .filter((text) => text !== "")
    .join("\n\n");
}

/** The name of the model. The demo model must never pass for an AI. */
export function Speaker({ model, demo }: { model: string | undefined; demo: boolean }) {
  return (
    <h2 className="caption mb-1 flex items-center gap-2 text-faint">
      {demo ? <Badge tone="warn">{t("chat.messages.demoModelNotAnAi")}</Badge> : (model ?? t("chat.messages.agent"))}
    </h2>
  );
}

interface BlockViewProps {
  block: Block | PartialBlock;
  tools: ReadonlyMap<string, ToolFacts>;
  /** The message is streaming, and so is this block if it is the last one. */
  writing?: boolean;
  last?: boolean;
}

function BlockView({ block, tools, writing = false, last = false }: BlockViewProps) {
  switch (block.type) {
    case "text":
      return block.text || writing ? <Markdown text={block.text} grows={writing} /> : null;
    case "thinking":
      return <Thinking text={thoughtOf(block)} live={writing && last} />;
    case "toolCall":
      return "arguments" in block ? (
        <ToolCard id={block.id} name={block.name} args={block.arguments} facts={tools.get(block.id) ?? nothing} />
      ) : (
        <WritingCall block={block} />
      );
    case "image":
      return "data" in block ? <Picture block={block} /> : null;
    default:
      return writing ? null : (
        <p className="text-faint text-sm">
          {t("chat.messages.unknownBlock", { type: String((block as { type: unknown }).type) })}
        </p>
      );
  }
}

function thoughtOf(block: ThinkingBlock | PartialBlock): string {
  return "thinking" in block ? (block.redacted ? "" : block.thinking) : block.text;
}

function Ending({ message }: { message: AssistantMessage }) {
  switch (message.stopReason) {
    case "error":
      return <ErrorCard text={message.errorMessage ?? t("chat.messages.theModelDidNotAnswer")} />;
    case "aborted":
      return <p className="caption my-2 text-faint">{t("chat.messages.canceledHere")}</p>;
    case "length":
      return <p className="caption my-2 text-warn">{t("chat.messages.cutOffTheModelReached")}</p>;
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
      title={t("chat.messages.theTurnFailed")}
      className="my-3"
    >
      <span className="whitespace-pre-wrap">{text}</span>
    </Notice>
  );
}
