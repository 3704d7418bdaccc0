import type { Live, PartialBlock } from "../../api/types";
import { Spinner } from "../../components/Spinner";
import { Speaker } from "./AssistantRow";
import { StreamingMarkdown } from "./Markdown";
import { Thinking } from "./Thinking";
import { Frame } from "./ToolCard";
import { partialArguments, viewTool } from "./tool-view";

export interface LivePartProps {
  live: Live;
  model: string | undefined;
  demo: boolean;
  /** No message of this turn was finished yet. */
  first: boolean;
}

/** The answer that is being written. */
export function LivePart({ live, model, demo, first }: LivePartProps) {
  if (live.partial.length === 0) return <Working live={live} />;
  return (
    <article data-testid="message-assistant" data-streaming="true" aria-busy="true">
      {first ? <Speaker model={model} demo={demo} /> : null}
      {live.partial.map((block, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks of a message are only ever appended
        <LiveBlock key={i} block={block} last={i === live.partial.length - 1} />
      ))}
      {live.turn?.cancelling ? <Working live={live} /> : null}
    </article>
  );
}

function LiveBlock({ block, last }: { block: PartialBlock; last: boolean }) {
  switch (block.type) {
    case "text":
      return <StreamingMarkdown text={block.text} />;
    case "thinking":
      return <Thinking text={block.text} live={last} />;
    case "toolCall":
      return (
        <Frame
          view={viewTool(block.name ?? "tool", partialArguments(block.text))}
          state="writing"
          badge={<Spinner className="text-faint text-sm" />}
          startsOpen={false}
          output=""
          decision={null}
          tail
        />
      );
    default:
      return null;
  }
}

/** Says that something goes on while there is nothing to read yet. */
function Working({ live }: { live: Live }) {
  if (!live.turn || live.approvals.length + live.questions.length > 0) return null;
  const text = live.turn.cancelling ? "Stopping" : live.tools.length > 0 ? null : "Working";
  if (!text) return null;
  return (
    <p className="my-3 flex items-center gap-2 text-faint text-sm">
      <Spinner /> {text}
    </p>
  );
}
