import { useEffect, useState } from "react";
import type { Live, ModelRetry, PartialBlock } from "../../../api/types";
import { Spinner } from "../../../components/Spinner";
import { t } from "../../../i18n/chat";
import { partialArguments, viewTool } from "../calls/tool-view";
import { StreamingMarkdown } from "../text/Markdown";
import { visible } from "../text/visible";
import { Frame } from "../tools/Frame";
import { Speaker } from "./AssistantRow";
import { Thinking } from "./Thinking";

export interface LivePartProps {
  live: Live;
  model: string | undefined;
  demo: boolean;
  /** No message of this turn was finished yet. */
  first: boolean;
}

/** The answer that is being written. */
export function LivePart({ live, model, demo, first }: LivePartProps) {
  if (live.partial.length === 0) {
    return <Working live={live} />;
  }
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
  if (!live.turn || live.approvals.length + live.questions.length > 0) {
    return null;
  }
  if (live.retry && !live.turn.cancelling) {
    return <Retrying key={live.retry.attempt} retry={live.retry} />;
  }
  const text = live.turn.cancelling
    ? t("chat.messages.stopping")
    : live.tools.length > 0
      ? null
      : t("chat.messages.working");
  if (!text) {
    return null;
  }
  return (
    <p className="my-3 flex items-center gap-2 text-faint text-sm">
      <Spinner /> {text}
    </p>
  );
}

/** Says why the model is asked again, and when. */
function Retrying({ retry }: { retry: ModelRetry }) {
  const { reason, attempt, attempts, delayMs } = retry;
  const [due, setDue] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), delayMs);
    return () => clearTimeout(timer);
  }, [delayMs]);
  return (
    <p data-testid="model-retry" className="my-3 flex items-baseline gap-2 text-sm text-warn">
      <Spinner className="shrink-0 translate-y-[0.15em]" />
      <span className="min-w-0 break-words [overflow-wrap:anywhere]">
        {visible(reason)}{" "}
        {due
          ? t("chat.messages.tryingAgainNow", { attempt, attempts })
          : t("chat.messages.tryingAgainIn", { seconds: Math.ceil(delayMs / 1000), attempt, attempts })}
      </span>
    </p>
  );
}
