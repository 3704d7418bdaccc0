import { Fragment, type ReactNode, useMemo, useState } from "react";
import type { ImageBlock } from "../../../api/types";
import { cx } from "../../../components/cx";
import {
  BranchIcon,
  CheckIcon,
  ChevronRightIcon,
  FileIcon,
  QuestionIcon,
  SearchIcon,
  SettingsIcon,
  TerminalIcon,
} from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { Code } from "../../code/Code";
import { Counts } from "../../diff/Counts";
import type { DiffInput } from "../../diff/Diff";
import { DiffView } from "../../diff/DiffView";
import { useSideBySide } from "../../diff/side-by-side";
import { visible } from "../../shared/visible";
import { Answered, answerText } from "../approvals/Answered";
import { factsOfChange } from "../calls/changes";
import { progressOf, type Todo } from "../calls/todos";
import type { ToolAnswer, ToolDecision } from "../calls/tool-facts";
import type { ToolView } from "../calls/tool-view";
import { useKeepOpen, useNames } from "../context/live-context";
import { Pictures } from "../images/Picture";
import { releasedBy } from "../mode/released";
import { Operations, type OperationsProps } from "../operations/Operations";
import { SubagentList, type SubagentListProps } from "../subagents/SubagentList";
import { Checklist } from "./Checklist";
import { FoldedText } from "./FoldedText";
import { OpenFile, PathLine } from "./files";

export interface FrameProps {
  view: ToolView;
  state: string;
  badge: ReactNode;
  startsOpen: boolean;
  output: string;
  /** The changes that the call makes in files. */
  change?: DiffInput | null;
  /** The task list after the call. */
  todos?: readonly Todo[] | null;
  /** The images of the result, always visible. */
  images?: ImageBlock[];
  decision: ToolDecision | null;
  /** The outcome of a question, shown instead of the output. */
  answer?: ToolAnswer | undefined;
  /** The subagents of the call, always visible. */
  crew?: Omit<SubagentListProps, "operations"> | undefined;
  operations?: Omit<OperationsProps, "open">;
  /** Whether the output grows, so that its end matters. */
  tail?: boolean;
}

const icons = {
  command: TerminalIcon,
  file: FileIcon,
  search: SearchIcon,
  question: QuestionIcon,
  agents: BranchIcon,
  tasks: CheckIcon,
  other: SettingsIcon,
};

const noOperations = { id: "", records: [] };

/** A tool call: one line with its purpose and outcome, and all details on demand. */
export function Frame({ view, state, badge, startsOpen, images = [], ...props }: FrameProps) {
  const { change = null, todos = null, answer, crew, operations, tail = false } = props;
  // null: follows the state. A choice made by the reader stays.
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? startsOpen;
  const keepOpen = useKeepOpen();
  const facts = useMemo(() => factsOfChange(change), [change]);
  const { on: wide } = useSideBySide();
  const both = facts.counts ? facts.counts.added > 0 && facts.counts.removed > 0 : change !== null;
  const Icon = icons[view.kind];
  return (
    <div
      data-testid="tool-card"
      data-state={state}
      className={cx(
        "my-2 overflow-hidden rounded-md border border-line bg-surface",
        open && wide && both && change && "wide-card",
      )}
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={({ currentTarget }) => {
          setChosen(!open);
          keepOpen(currentTarget);
        }}
        className="touchable flex w-full items-center gap-2 px-3 py-1.5 text-left hover:bg-sunken"
      >
        <Icon className="shrink-0 text-faint" />
        <span className="shrink-0 font-medium text-sm">{view.verb}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-[0.8125rem] text-muted">
          {subjectOf(view, facts.paths, todos)}
        </span>
        {facts.counts ? <Counts file={facts.counts} /> : null}
        {badge}
        <ChevronRightIcon className={cx("shrink-0 text-faint transition-transform", open && "rotate-90")} />
      </button>
      {answer && !open ? <AnswerLine answer={answer} /> : null}
      {crew ? <SubagentList {...crew} operations={operations ?? noOperations} /> : null}
      {operations && !crew ? <Operations {...operations} open={open} /> : null}
      {images.length > 0 ? (
        <div className="border-line border-t px-3">
          <Pictures blocks={images} />
        </div>
      ) : null}
      {open ? <Body view={view} {...props} change={change} todos={todos} tail={tail} /> : null}
    </div>
  );
}

/** Returns the most important part of a call. */
function subjectOf(view: ToolView, paths: readonly string[], todos: readonly Todo[] | null): string {
  if (todos) {
    const { done, total, current } = progressOf(todos);
    const progress = t("chat.tools.tasksDone", { done, total });
    return visible(current ? `${progress} · ${current.content}` : progress);
  }
  if (view.subject === "" && paths.length > 1) {
    return t("chat.tools.files", { count: paths.length });
  }
  return visible(view.subject || (paths[0] ?? ""));
}

type BodyProps = Pick<FrameProps, "view" | "output" | "decision" | "answer"> & {
  change: DiffInput | null;
  todos: readonly Todo[] | null;
  tail: boolean;
};

function Body({ view, output, decision, answer, change, todos, tail }: BodyProps) {
  const said = answer || (output === "" && (change || todos));
  return (
    <div className="border-line border-t bg-bg">
      {change ? (
        <DiffView
          of={change}
          bare
          className="max-h-[32rem] overflow-auto"
          actions={(file) => <OpenFile file={file} part={!("diff" in change) && change.part} />}
        />
      ) : null}
      {todos ? <Checklist todos={todos} className="px-3 py-2" /> : null}
      <div className="space-y-2 px-3 py-2.5 empty:hidden">
        {answer ? (
          <Answered question={view.subject} choices={view.choices} answer={answer} />
        ) : change || todos ? null : (
          <Arguments view={view} />
        )}
        {decision ? <DecisionLine decision={decision} /> : null}
        {said || todos ? null : output ? (
          <FoldedText text={output} tail={tail} />
        ) : (
          <p className="text-faint text-sm">{tail ? t("chat.tools.noOutputYet") : t("chat.tools.noOutput")}</p>
        )}
      </div>
    </div>
  );
}

/** The answer to a question, also visible while the card is closed. */
function AnswerLine({ answer }: { answer: ToolAnswer }) {
  const nameOf = useNames();
  const given = answer.outcome === "answered";
  return (
    <p
      data-testid="answer-line"
      className="flex items-start gap-2 border-line border-t px-3 py-1.5 text-sm [overflow-wrap:anywhere]"
    >
      {given ? <CheckIcon className="mt-0.5 text-accent" /> : null}
      <span dir="auto" className={cx("line-clamp-3 min-w-0 flex-1", !given && "text-muted")}>
        {visible(given ? (answer.answer ?? "") : answerText(answer, nameOf(answer.answeredBy)))}
      </span>
      {given ? <span className="shrink-0 text-faint text-xs leading-5">{nameOf(answer.answeredBy)}</span> : null}
    </p>
  );
}

function Arguments({ view }: { view: ToolView }) {
  return (
    <>
      {view.kind === "command" && !view.body ? (
        <pre className="whitespace-pre-wrap break-words font-mono text-[0.8125rem] [overflow-wrap:anywhere]">
          <span className="select-none text-accent">$ </span>
          {visible(view.subject)}
        </pre>
      ) : null}
      {view.kind === "file" ? <PathLine path={view.subject} rest={view.rest} /> : null}
      {view.body ? <LongCode {...view.body} /> : null}
      {view.rest.length > 0 ? (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-[0.8125rem]">
          {view.rest.map(([name, value]) => (
            <Fragment key={name}>
              <dt className="text-faint">{visible(name)}</dt>
              <dd className="max-h-60 overflow-auto break-words font-mono [overflow-wrap:anywhere]">
                {visible(value.slice(0, shownValue))}
                {value.length > shownValue ? "…" : null}
              </dd>
            </Fragment>
          ))}
        </dl>
      ) : null}
    </>
  );
}

/** How many characters of an argument are shown, and how many of a text are highlighted. */
const shownValue = 4000;
const shownCode = 40_000;

/** Text to be written: a very long one is folded like output. */
function LongCode({ text, language }: { text: string; language: string }) {
  return text.length > shownCode ? (
    <FoldedText text={text} />
  ) : (
    <Code
      code={visible(text)}
      language={language}
      className="max-h-80 overflow-auto rounded-sm border border-line bg-sunken p-2"
    />
  );
}

function DecisionLine({ decision }: { decision: ToolDecision }) {
  const nameOf = useNames();
  const who = nameOf(decision.decidedBy);
  const words: Record<string, string> = {
    allow: decision.released
      ? t("chat.tools.allowedWithoutAnAnswerAfter", { reason: releasedBy(decision.released), who })
      : t("chat.tools.allowedOnceBy", { who }),
    always: t("chat.tools.alwaysAllowedBy", {
      who,
      rules: decision.rules?.join(", ") ?? t("chat.tools.theRuleThatWasShown"),
    }),
    deny: decision.feedback
      ? t("chat.tools.deniedBy", { who, feedback: decision.feedback })
      : t("chat.tools.deniedByNoReason", { who }),
    stop: t("chat.tools.deniedByWhoStoppedThe", { who }),
    cancelled: t("chat.tools.canceledBeforeAnAnswer"),
  };
  return (
    <p className="break-words text-muted text-xs">
      {words[decision.decision] ?? t("chat.tools.decided", { decision: decision.decision })}
    </p>
  );
}
