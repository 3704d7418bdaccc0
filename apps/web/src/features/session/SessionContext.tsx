import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Host } from "../../api/contract";
import type { ContextMessage, RuntimeContext } from "../../api/types";
import { ChevronRightIcon } from "../../components/icons";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/session";
import { isRefusal } from "../shared/errors";
import { hostKey } from "../shared/host-queries";
import { useReadable } from "../shared/scorel-context";
import { tokens } from "../shared/tokens";
import { withHelp } from "../shared/with-help";

/** The context that the session's model would get with the next prompt. */
export function SessionContext({ host, sessionId }: { host: Host; sessionId: string }) {
  const online = useReadable(host.status) === "open";
  const { data, error } = useQuery({
    queryKey: hostKey(host.deviceId, "get_snapshot", { sessionId }),
    queryFn: () => host.request("get_snapshot", { sessionId }),
    enabled: online,
    // It changes with every message: reloaded whenever the details are opened.
    gcTime: 0,
    retry: (failures, cause) => !isRefusal(cause) && failures < 2,
  });
  return (
    <section
      aria-label={t("session.sessionContext.modelContext")}
      data-testid="session-context"
      className="mt-5 border-line border-t pt-4 text-sm"
    >
      <h3 className="font-medium">{t("session.sessionContext.modelContext")}</h3>
      {data ? (
        <>
          {data.hole ? (
            <p className="mt-1 text-warn">{t("session.sessionContext.partOfTheHistoryIs", { hole: data.hole })}</p>
          ) : null}
          <Context context={data.runtimeContext} />
        </>
      ) : error ? (
        <p className="mt-1 text-muted">{withHelp(error)}</p>
      ) : online ? (
        <Skeleton label={t("session.sessionContext.loadingTheModelContext")} rows={3} className="mt-2" />
      ) : (
        <p className="mt-1 text-muted">{t("session.sessionContext.notAvailableOffline")}</p>
      )}
    </section>
  );
}

function Context({ context }: { context: RuntimeContext }) {
  const { model, thinking, cwd, system, tools, messages, omitted = 0 } = context;
  const provider = model.provider === model.id ? model.id : `${model.provider}, ${model.id}`;
  return (
    <>
      <Size context={context} />
      <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        <Fact name={t("session.sessionContext.model")}>
          {model.demo
            ? t("session.sessionContext.demoModelNotAnAi", { name: model.name })
            : `${model.name} (${provider})`}
        </Fact>
        {thinking ? <Fact name={t("session.sessionContext.reasoning")}>{thinking}</Fact> : null}
        <Fact name={t("session.sessionContext.folder")}>
          <span className="break-all font-mono text-xs">{cwd}</span>
        </Fact>
      </dl>
      <div className="mt-2 divide-y divide-line border-line border-y">
        <Group title={t("session.sessionContext.systemPrompt")} parts={system}>
          {system.map((part, i) => (
            <Fold
              key={part.name || i}
              title={part.name || t("session.sessionContext.introduction")}
              tokens={part.tokens}
            >
              <Text>{part.text}</Text>
            </Fold>
          ))}
        </Group>
        <Group title={t("session.sessionContext.tools")} parts={tools}>
          {tools.map((tool) => (
            <Fold key={tool.name} title={tool.name} tokens={tool.tokens} mono>
              <Text>{tool.description}</Text>
            </Fold>
          ))}
        </Group>
        <Group title={t("session.sessionContext.messages")} parts={messages}>
          {omitted > 0 ? (
            <p className="py-1.5 pl-6 text-muted">
              {t("session.sessionContext.earlierMessagesAreNotListed", { omitted })}
            </p>
          ) : null}
          {messages.map((message, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages have no id, and the list is read once
            <Fold key={i} title={titleOf(message)} tokens={message.tokens}>
              <Text>{textOf(message) || t("session.sessionContext.noText")}</Text>
            </Fold>
          ))}
        </Group>
      </div>
      <p className="mt-1.5 text-faint text-xs">{t("session.sessionContext.tokenCountsAreEstimates")}</p>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

/** How full the context window is. */
function Size({ context }: { context: RuntimeContext }) {
  const { tokens: used, contextWindow, compactAt } = context;
  if (!contextWindow) {
    return <p className="mt-1 tabular-nums">{t("session.sessionContext.tokens", { tokens: tokens(used) })}</p>;
  }
  const percent = Math.min(100, Math.round((used / contextWindow) * 100));
  return (
    <>
      <p className="mt-1 flex justify-between gap-3 tabular-nums">
        <span>{t("session.sessionContext.ofTokens", { tokens: tokens(used), window: tokens(contextWindow) })}</span>
        <span className="text-muted">{percent}%</span>
      </p>
      <meter
        aria-label={t("session.sessionContext.contextWindowUsed")}
        className="sr-only"
        min={0}
        max={contextWindow}
        value={used}
      />
      <div aria-hidden="true" className="mt-1.5 mb-3 h-1.5 overflow-hidden rounded-full bg-line">
        <div className="h-full rounded-full bg-accent" style={{ width: `${percent}%` }} />
      </div>
      {compactAt ? (
        <p className="mb-3 text-muted text-xs">
          {t("session.sessionContext.summarizedAt", { tokens: tokens(compactAt) })}
        </p>
      ) : null}
    </>
  );
}

function Group({ title, parts, children }: { title: string; parts: { tokens: number }[]; children: ReactNode }) {
  if (parts.length === 0) {
    return null;
  }
  const sum = parts.reduce((all, part) => all + part.tokens, 0);
  return (
    <Fold title={`${title} (${parts.length})`} tokens={sum} strong>
      <div className="pb-1">{children}</div>
    </Fold>
  );
}

interface FoldProps {
  title: string;
  tokens: number;
  mono?: boolean;
  strong?: boolean;
  children: ReactNode;
}

function Fold({ title, tokens: count, mono = false, strong = false, children }: FoldProps) {
  return (
    <details className="min-w-0 open:[&>summary>svg]:rotate-90">
      <summary
        className={`touchable flex cursor-pointer list-none items-center gap-1.5 rounded-sm [&::-webkit-details-marker]:hidden ${strong ? "" : "pl-6"}`}
      >
        <ChevronRightIcon className="text-faint transition-transform" />
        <span
          dir="auto"
          className={`min-w-0 flex-1 truncate ${strong ? "font-medium" : ""} ${mono ? "font-mono text-xs" : ""}`}
        >
          {title}
        </span>
        <span className="shrink-0 text-faint text-xs tabular-nums">{tokens(count)}</span>
      </summary>
      {children}
    </details>
  );
}

const boxed =
  "mb-2 ml-6 max-h-72 overflow-auto whitespace-pre-wrap break-words rounded-md bg-sunken px-3 py-2 font-mono text-xs [overflow-wrap:anywhere]";

function Text({ children }: { children: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling boxes must be reachable by keyboard
    <pre tabIndex={0} className={boxed}>
      {children}
    </pre>
  );
}

const roles: Record<string, string> = {
  get user() {
    return t("session.sessionContext.user");
  },
  get assistant() {
    return t("session.sessionContext.agent");
  },
  get toolResult() {
    return t("session.sessionContext.toolResult");
  },
};

function titleOf(message: ContextMessage): string {
  const role = roles[message.role] ?? message.role;
  const about = message.toolName ?? textOf(message).replace(/\s+/g, " ").slice(0, 80);
  return about ? `${role}: ${about}` : role;
}

function textOf(message: ContextMessage): string {
  return message.content
    .map((block) => {
      switch (block.type) {
        case "text":
          return block.text;
        case "thinking":
          return block.thinking;
        case "toolCall":
          return `${block.name} ${JSON.stringify(block.arguments)}`;
        default:
          return t("session.sessionContext.image");
      }
    })
    .join("\n");
}
