import { useState } from "react";
import type { ProcessLine } from "../../api/types";
import { Button } from "../../components/Button";
import { cx } from "../../components/cx";
import { sentence } from "../shared/errors";
import { useLogReader } from "./live-context";
import { after, figures } from "./progress";
import { Repeats } from "./Repeats";

export interface ProcessLogProps {
  logRef: string;
  startedAt: number;
  /** Those that came with the record; null is none. */
  lines: readonly ProcessLine[] | null;
  /** How many of the whole log `lines` leaves out, after the tenth. */
  omitted: number;
}

/** The first lines that a record keeps. */
const firstLines = 10;

interface Loaded {
  lines: ProcessLine[];
  next: number;
  more: boolean;
}

/** Lines of an operation's log: those that are here, and all of it on demand. */
export function ProcessLog({ logRef, startedAt, lines, omitted }: ProcessLogProps) {
  const read = useLogReader();
  const [whole, setWhole] = useState<Loaded | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const load = async () => {
    setBusy(true);
    setError("");
    try {
      const page = await read(logRef, whole?.next ?? 0);
      setWhole({
        lines: [...(whole?.lines ?? []), ...(page.lines ?? [])],
        next: page.next,
        more: page.more ?? false,
      });
    } catch (cause) {
      setError(sentence(cause));
    }
    setBusy(false);
  };
  const shown = whole?.lines ?? lines ?? [];
  const gap = whole || omitted === 0 ? -1 : firstLines;
  const label = whole ? (whole.more || !lines ? "Load more" : "") : lines === null ? "Load the log" : "Whole log";
  const wanted = label !== "" && (whole !== null || lines === null || omitted > 0);
  return (
    <>
      <ol
        data-testid="process-log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard
        tabIndex={0}
        className="max-h-80 space-y-0.5 overflow-auto text-[0.8125rem]"
      >
        {shown.map((line, i) => (
          <li key={line.sequence}>
            {i === gap ? <p className="caption py-1 text-faint">{omitted} steps are left out here</p> : null}
            <LogLine line={line} startedAt={startedAt} />
          </li>
        ))}
      </ol>
      {error ? (
        <p role="alert" className="text-danger text-sm">
          {error}
        </p>
      ) : null}
      {wanted ? (
        <Button tone="quiet" className="-ml-3 text-xs" busy={busy} onClick={load}>
          {label}
        </Button>
      ) : null}
    </>
  );
}

function LogLine({ line, startedAt }: { line: ProcessLine; startedAt: number }) {
  const tone = line.level === "error" ? "text-danger" : line.level === "warn" ? "text-warn" : "text-muted";
  return (
    <div className="grid grid-cols-[4rem_minmax(0,1fr)] gap-x-2">
      <span className="text-right text-faint tabular-nums">{after(line, startedAt)}</span>
      <div className="min-w-0">
        <p className={cx("flex items-baseline gap-2 break-words", tone)}>
          <span className="min-w-0 break-words">
            {line.stage ? <span className="text-faint">{line.stage} </span> : null}
            {line.message || line.status}
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
