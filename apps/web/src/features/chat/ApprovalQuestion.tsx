import { useState } from "react";
import type { Approval } from "../../api/types";
import { Badge, type Tone } from "../../components/Badge";
import { Button } from "../../components/Button";
import { ShieldIcon } from "../../components/icons";
import { Code } from "./CodeBlock";
import { languageOf } from "./tool-view";
import { visible } from "./visible";

/** How many lines are shown before it is asked for all of them. */
const shownLines = 20;

const tones: Record<string, Tone> = { low: "neutral", medium: "warn", high: "danger" };

/** What the agent wants to do, where, and what is risky about it. */
export function ApprovalQuestion({ approval, caption }: { approval: Approval; caption: string | undefined }) {
  const { title, detail, command, paths = [], cwd, isDiff, risk, reason } = approval;
  const language = isDiff ? "diff" : command || approval.toolName === "bash" ? "bash" : languageOf(paths[0] ?? "");
  return (
    <>
      <div className="flex items-start gap-3 px-4 pt-3.5">
        <ShieldIcon className="mt-0.5 shrink-0 text-warn text-xl" />
        <div className="min-w-0 flex-1">
          <div className="flex items-center justify-between gap-2">
            <p className="caption text-warn">{caption ?? "The agent asks"}</p>
            {risk ? <Badge tone={tones[risk.level] ?? "danger"}>{risk.level} risk</Badge> : null}
          </div>
          <p className="break-words font-semibold [overflow-wrap:anywhere]">{visible(title)}</p>
        </div>
      </div>
      {command && command !== detail ? <Preview text={command} language="bash" /> : null}
      {detail ? <Preview text={detail} language={language} /> : null}
      <dl className="mx-4 mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-muted text-xs">
        <Line name="in" code={[cwd]} />
        {paths.length > 0 ? <Line name={paths.length > 1 ? "files" : "file"} code={paths} /> : null}
        {risk && risk.reasons.length > 0 ? <Line name="risk" text={risk.reasons.join("; ")} /> : null}
        {reason ? <Line name="why" text={reason} /> : null}
      </dl>
    </>
  );
}

function Line({ name, text = "", code }: { name: string; text?: string; code?: string[] }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="break-words text-ink">
        {visible(text)}
        {code ? <Items items={code} /> : null}
      </dd>
    </>
  );
}

/** How many of a list are shown before it is asked for all. */
const shownItems = 5;

/** A long list is folded, and says so. */
function Items({ items }: { items: string[] }) {
  const [all, setAll] = useState(false);
  const hidden = all || items.length <= shownItems + 1 ? 0 : items.length - shownItems;
  return (
    <>
      {items.slice(0, items.length - hidden).map((item) => (
        <code key={item} className="block break-all font-mono">
          {visible(item)}
        </code>
      ))}
      {hidden > 0 ? (
        <button
          type="button"
          className="touchable rounded-sm font-medium text-muted underline underline-offset-2 hover:text-ink"
          onClick={() => setAll(true)}
        >
          Show {hidden} more
        </button>
      ) : null}
    </>
  );
}

/** A long text is folded, and says how much of it is not in sight. */
function Preview({ text, language }: { text: string; language: string }) {
  const [all, setAll] = useState(false);
  const lines = visible(text).replace(/\n$/, "").split("\n");
  const hidden = all ? 0 : Math.max(0, lines.length - shownLines);
  return (
    <div className="mx-4 mt-3 overflow-hidden rounded-md border border-line bg-surface">
      <Code
        code={lines.slice(0, lines.length - hidden).join("\n")}
        language={language}
        className="max-h-[40dvh] overflow-auto whitespace-pre-wrap break-words p-3"
      />
      {hidden > 0 ? (
        <Button
          data-testid="approval-more"
          tone="quiet"
          className="w-full rounded-none border-0 border-line border-t text-xs"
          onClick={() => setAll(true)}
        >
          Show {hidden} more {hidden === 1 ? "line" : "lines"}
        </Button>
      ) : null}
    </div>
  );
}
