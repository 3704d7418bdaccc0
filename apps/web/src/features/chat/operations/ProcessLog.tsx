import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import type { Process, ProcessLine } from "../../../api/types";
import { Button } from "../../../components/Button";
import { cx } from "../../../components/cx";
import { ErrorText } from "../../../components/ErrorText";
import { t } from "../../../i18n/chat";
import { withHelp } from "../../shared/with-help";
import { useLogReader } from "../context/live-context";
import { after, figures } from "./progress";
import { Repeats } from "./Repeats";
import { statusText } from "./status-text";
import { useFollowedLog } from "./use-followed-log";

export interface ProcessLogProps {
  logRef: string;
  startedAt: number;
  /** The lines stored in the record. */
  lines: readonly ProcessLine[];
  /** How many lines of the log `lines` omits, after the tenth. */
  omitted: number;
}

/** How many of the first lines a record keeps. */
const firstLines = 10;

interface Loaded {
  lines: ProcessLine[];
  next: number;
  more: boolean;
}

/** The log of an ended operation: the recorded lines, and the whole log on demand. */
export function ProcessLog({ logRef, startedAt, lines, omitted }: ProcessLogProps) {
  const read = useLogReader();
  const [whole, setWhole] = useState<Loaded | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ReactNode>(null);
  const load = async () => {
    setBusy(true);
    setError(null);
    try {
      const page = await read(logRef, whole?.next ?? 0);
      setWhole({
        lines: [...(whole?.lines ?? []), ...(page.lines ?? [])],
        next: page.next,
        more: page.more ?? false,
      });
    } catch (cause) {
      setError(withHelp(cause));
    }
    setBusy(false);
  };
  const shown = whole?.lines ?? lines;
  const gap = whole || omitted === 0 ? -1 : firstLines;
  const label = whole
    ? whole.more
      ? t("chat.operations.loadMore")
      : ""
    : omitted > 0
      ? t("chat.operations.wholeLog")
      : "";
  return (
    <>
      <ol
        data-testid="process-log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling boxes must be reachable by keyboard
        tabIndex={0}
        className="max-h-80 space-y-0.5 overflow-auto text-[0.8125rem]"
      >
        {shown.map((line, i) => (
          <li key={line.sequence}>
            {i === gap ? (
              <p className="caption py-1 text-faint">{t("chat.operations.stepsAreNotShownHere", { omitted })}</p>
            ) : null}
            <LogLine line={line} startedAt={startedAt} />
          </li>
        ))}
      </ol>
      {error ? <Trouble text={error} /> : null}
      {label ? (
        <Button tone="quiet" className="-ml-3 text-xs" busy={busy} onClick={load}>
          {label}
        </Button>
      ) : null}
    </>
  );
}

/** The log of a running operation. It grows, and the newest line stays visible. */
export function FollowedLog({ process }: { process: Process }) {
  const { lines, left, error } = useFollowedLog(process);
  const box = useRef<HTMLOListElement>(null);
  const follows = useRef(true);
  const newest = lines.at(-1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new line moves the end
  useLayoutEffect(() => {
    if (box.current && follows.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [newest?.sequence, newest?.repeats]);
  const scrolled = () => {
    const { current } = box;
    if (current) {
      follows.current = current.scrollHeight - current.scrollTop - current.clientHeight < 24;
    }
  };
  return (
    <>
      {left > 0 ? (
        <p className="caption py-1 text-faint">{t("chat.operations.earlierStepsAreOnlyIn", { left })}</p>
      ) : null}
      <ol
        ref={box}
        onScroll={scrolled}
        data-testid="process-log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling boxes must be reachable by keyboard
        tabIndex={0}
        className="max-h-80 space-y-0.5 overflow-auto text-[0.8125rem]"
      >
        {lines.map((line) => (
          <li key={line.sequence}>
            <LogLine line={line} startedAt={process.startedAt} />
          </li>
        ))}
      </ol>
      {error ? <Trouble text={error} /> : null}
    </>
  );
}

function Trouble({ text }: { text: ReactNode }) {
  return <ErrorText>{text}</ErrorText>;
}

function LogLine({ line, startedAt }: { line: ProcessLine; startedAt: number }) {
  const tone = line.level === "error" ? "text-danger" : line.level === "warn" ? "text-warn" : "text-muted";
  return (
    <div className="grid grid-cols-[4rem_minmax(0,1fr)] gap-x-2">
      <span className="text-right text-faint tabular-nums">{after(line, startedAt)}</span>
      <div className="min-w-0">
        <p className={cx("flex items-baseline gap-2 break-words", tone)}>
          <span data-testid="log-message" className="min-w-0 break-words">
            {line.stage ? <span className="text-faint">{line.stage} </span> : null}
            {line.message || statusText(line.status)}
          </span>
          <Repeats n={line.repeats} />
          <span className="shrink-0 text-faint tabular-nums">{figures(line)}</span>
        </p>
        {line.detail ? (
          <pre className="whitespace-pre-wrap break-words font-mono text-faint text-xs">{line.detail}</pre>
        ) : null}
        {line.payload === undefined ? null : (
          <pre className="whitespace-pre-wrap break-words font-mono text-faint text-xs">
            {JSON.stringify(line.payload)}
          </pre>
        )}
      </div>
    </div>
  );
}
