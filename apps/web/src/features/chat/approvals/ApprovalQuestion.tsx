import { type ReactNode, type RefObject, useState } from "react";
import type { Approval } from "../../../api/types";
import { Badge, type Tone } from "../../../components/Badge";
import { Button } from "../../../components/Button";
import { cx } from "../../../components/cx";
import { ShieldIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { Code } from "../../code/Code";
import { languageOf } from "../../code/language";
import { DiffView } from "../../diff/DiffView";
import { visible } from "../../shared/visible";

/** How many lines are shown until a person expands the text. */
const shownLines = 20;

const tones: Record<string, Tone> = { low: "neutral", medium: "warn", high: "danger" };

/** A newer host may send other levels. */
function riskWords(level: string): string {
  switch (level) {
    case "low":
      return t("chat.approvals.riskLow");
    case "medium":
      return t("chat.approvals.riskMedium");
    case "high":
      return t("chat.approvals.riskHigh");
    default:
      return t("chat.approvals.risk", { level });
  }
}

export interface ApprovalHeadingProps {
  approval: Approval;
  caption: string;
  heading: RefObject<HTMLHeadingElement | null>;
}

/**
 * The title and the risk of a request. The heading stays visible as long as the card is, and leaves room for the
 * buttons: a long title, which the details repeat, is cut.
 */
export function ApprovalHeading({ approval, caption, heading }: ApprovalHeadingProps) {
  const { title, risk, detail, command } = approval;
  return (
    <div
      data-guard-cover
      className="sticky top-0 z-20 flex items-start gap-3 bg-inherit px-4 pt-3 pb-2 short:pt-1.5 short:pb-1"
    >
      <ShieldIcon className="mt-0.5 shrink-0 text-warn text-xl" />
      <div className="min-w-0 flex-1">
        <div className="flex items-center justify-between gap-2">
          <p className="caption text-warn">{caption}</p>
          {risk ? <Badge tone={tones[risk.level] ?? "danger"}>{riskWords(risk.level)}</Badge> : null}
        </div>
        <h2
          ref={heading}
          tabIndex={-1}
          data-heading
          className={cx(
            "break-words rounded-sm font-semibold [overflow-wrap:anywhere]",
            detail || command ? "line-clamp-4 short:line-clamp-1 short:break-all" : "",
          )}
        >
          {unbroken(visible(title))}
        </h2>
      </div>
    </div>
  );
}

/** The length of an option up to which it stays in one piece: a longer word must be able to wrap. */
const MAX_OPTION = 20;

/** Keeps options such as `--force` in one piece, which browsers would break after the dashes. */
function unbroken(text: string): ReactNode[] {
  return text.split(" ").flatMap((word, i) => [
    i > 0 ? " " : "",
    word.startsWith("-") && word.length <= MAX_OPTION ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: words have no other key, and never move
      <span key={i} className="whitespace-nowrap">
        {word}
      </span>
    ) : (
      word
    ),
  ]);
}

/** The details of a request: the command or change, the folder and the risks. */
export function ApprovalDetails({ approval }: { approval: Approval }) {
  const { detail, command, paths = [], cwd, isDiff } = approval;
  const { risks, reason } = reasonsOf(approval);
  const language = command || approval.toolName === "bash" ? "bash" : languageOf(paths[0] ?? "");
  return (
    <>
      {command && command !== detail ? <Preview text={command} language="bash" /> : null}
      {detail && isDiff ? (
        <div className="mx-4 mt-1.5 overflow-clip rounded-md border border-line">
          <DiffView of={{ diff: detail }} rows={shownLines} className="max-h-[40dvh] overflow-auto" />
        </div>
      ) : detail ? (
        <Preview text={detail} language={language} />
      ) : null}
      <dl className="mx-4 mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-muted text-xs">
        <Line name={t("chat.approvals.folder")} code={[cwd]} />
        {paths.length > 0 ? (
          <Line name={paths.length > 1 ? t("chat.approvals.files") : t("chat.approvals.file")} code={paths} />
        ) : null}
        {risks.length > 0 ? <Line name={t("chat.approvals.riskTitle")} text={risks.join("; ")} /> : null}
        {reason ? <Line name={t("chat.approvals.reason")} text={reason} /> : null}
      </dl>
    </>
  );
}

/** Returns the risks and the reason of a request, without repetitions. */
function reasonsOf({ risk, reason = "" }: Approval): { risks: string[]; reason: string } {
  const plain = (text: string) => text.trim().replace(/\.$/, "").toLowerCase();
  const reasons = risk?.reasons ?? [];
  const risks = reasons.filter((text, i) => reasons.findIndex((other) => plain(other) === plain(text)) === i);
  return { risks, reason: risks.some((text) => plain(text) === plain(reason)) ? "" : reason };
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

/** How many items of a list are shown until a person expands it. */
const shownItems = 5;

/** A list; a long one is folded and shows how many items are hidden. */
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
          {t("chat.approvals.showMore", { hidden })}
        </button>
      ) : null}
    </>
  );
}

/** A text; a long one is folded and shows how much is hidden. */
function Preview({ text, language }: { text: string; language: string }) {
  const [all, setAll] = useState(false);
  const lines = visible(text).replace(/\n$/, "").split("\n");
  const hidden = all ? 0 : Math.max(0, lines.length - shownLines);
  return (
    <div className="mx-4 mt-1.5 overflow-hidden rounded-md border border-line bg-surface">
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
          {t("chat.approvals.showMoreLines", { hidden })}
        </Button>
      ) : null}
    </div>
  );
}
