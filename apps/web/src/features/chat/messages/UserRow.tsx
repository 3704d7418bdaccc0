import { blocksOf } from "@scorel/protocol/tree";
import { memo, type ReactNode, useMemo } from "react";
import type { MessageEntry, UserMessage } from "../../../api/types";
import { CheckIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { clock } from "../../shared/time";
import { SentFiles } from "../attached/AttachedFiles";
import { useNames } from "../context/live-context";
import { Pictures } from "../images/Picture";
import { splitFiles } from "../images/text-files";
import { PlaceMenu } from "./PlaceMenu";
import { Versions } from "./Versions";

/** A prompt in the log: the agent has received it. */
export const UserRow = memo(function UserRow(props: { entry: MessageEntry; message: UserMessage; mine: boolean }) {
  const { entry, message, mine } = props;
  const text = blocksOf(message)
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("");
  const images = blocksOf(message).filter((block) => block.type === "image");
  const time = clock(message.timestamp || Date.parse(entry.timestamp)); // other programs may write the entry's only
  return (
    <Prompt
      text={text}
      mine={mine}
      clientId={entry.clientId}
      imported={!entry.clientId}
      pictures={<Pictures blocks={images} />}
    >
      {mine ? (
        <State state="taken" icon={<CheckIcon />}>
          {t("chat.messages.delivered", { time })}
        </State>
      ) : (
        <span>{time}</span>
      )}
      {entry.steer ? <span>{t("chat.messages.sentMidTurn")}</span> : null}
      <span className="-my-2 ml-auto flex items-center">
        <Versions entryId={entry.id} />
        {entry.steer ? null : <PlaceMenu place={{ entryId: entry.id, before: true, text }} />}
      </span>
    </Prompt>
  );
});

export interface PromptProps {
  text: string;
  mine: boolean;
  clientId: string | undefined;
  /** Whether another program wrote the session, so that no client sent it. */
  imported?: boolean;
  waiting?: boolean;
  pictures?: ReactNode;
  children: ReactNode;
}

/** The frame of a prompt. */
export function Prompt({ text, mine, clientId, imported = false, waiting = false, pictures, children }: PromptProps) {
  const nameOf = useNames();
  const { text: said, files } = useMemo(() => splitFiles(text), [text]);
  const who = mine ? t("chat.messages.you") : imported ? t("chat.messages.imported") : nameOf(clientId);
  return (
    <article
      data-testid="message-user"
      data-mine={mine}
      className={`mt-6 mb-4 rounded-md border-l-[3px] bg-sunken py-2.5 pr-4 pl-3.5 ${mine ? "border-accent" : "border-line-strong"} ${waiting ? "border-dashed" : ""}`}
    >
      <h2 className="sr-only">{who}</h2>
      {said === "" ? null : (
        <p dir="auto" className="whitespace-pre-wrap break-words [overflow-wrap:anywhere]">
          {said}
        </p>
      )}
      <SentFiles files={files} />
      {pictures}
      <div className="caption mt-1 flex flex-wrap items-center gap-x-2 text-faint">
        {mine ? null : <span>{imported ? who : t("chat.messages.from", { who })}</span>}
        {children}
      </div>
    </article>
  );
}

/** The delivery state of a prompt. */
export function State({ state, icon, children }: { state: string; icon: ReactNode; children: ReactNode }) {
  return (
    <span data-testid="message-state" data-state={state} className="inline-flex items-center gap-1">
      {icon}
      {children}
    </span>
  );
}
