import { useState } from "react";
import { Link } from "wouter";
import type { Host } from "../../api/contract";
import type { ChannelChat, ChannelSender } from "../../api/types";
import { Button } from "../../components/Button";
import { t } from "../../i18n/channels";
import { address } from "../route/address";
import { useHostData } from "../shared/host-data";
import { clock } from "../shared/time";
import { ChatNotices } from "./ChatNotices";
import { chatName, senderName } from "./words";

export interface ChatRowProps {
  host: Host;
  chat: ChannelChat;
  /** The action that is running; null if none is. */
  busy: string | null;
  onRemove: () => void;
  onAllow: (sender: ChannelSender, allowed: boolean) => void;
}

/** A chat: its project and session, who is heard in it, and who wrote without being heard. */
export function ChatRow({ host, chat, busy, onRemove, onAllow }: ChatRowProps) {
  const { clientId, projectId, sessionId, expiresAt, grants, senders, ignored = [] } = chat;
  const { projects } = useHostData(host);
  const name = chatName(chat);
  const project = projects?.find(({ id }) => id === projectId)?.name ?? projectId ?? "";
  return (
    <li data-testid="channel-chat" className="py-2">
      <div className="flex items-center gap-x-2">
        <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          <bdi className="font-medium">{name}</bdi>
          {projectId ? <span className="ml-2 text-faint text-xs">{project}</span> : null}
        </p>
        {projectId ? (
          <Button
            tone="quiet"
            className="-mr-2 shrink-0 text-xs"
            data-testid="chat-remove"
            aria-label={t("channels.chat.removeNamed", { name })}
            onClick={onRemove}
          >
            {t("channels.chat.remove")}
          </Button>
        ) : null}
      </div>
      <p className="text-muted">
        {projectId ? access(grants ?? []) : t("channels.chat.notConnected")}
        {expiresAt ? ` ${t("channels.chat.expires", { time: clock(expiresAt) })}` : null}
      </p>
      {projectId && sessionId ? (
        <Link
          to={address.session(host.deviceId, sessionId)}
          className="touchable mr-3 inline-flex items-center font-medium text-accent underline underline-offset-2"
        >
          {t("channels.chat.session")}
        </Link>
      ) : null}
      {projectId && clientId ? <Notices host={host} clientId={clientId} name={name} /> : null}
      <ul className="empty:hidden">
        {senders.map((sender) => (
          <Sender
            key={sender.id}
            {...{ sender, busy: busy === `allow ${chat.id} ${sender.id}` }}
            state={t("channels.chat.heard")}
            action={t("channels.chat.disallow")}
            label={t("channels.chat.disallowNamed", { name: senderName(sender) })}
            onAct={() => onAllow(sender, false)}
          />
        ))}
        {ignored.map((sender) => (
          <Sender
            key={sender.id}
            {...{ sender, busy: busy === `allow ${chat.id} ${sender.id}` }}
            state={t("channels.chat.ignored")}
            action={projectId ? t("channels.chat.allow") : ""}
            label={t("channels.chat.allowNamed", { name: senderName(sender) })}
            onAct={() => onAllow(sender, true)}
          />
        ))}
      </ul>
    </li>
  );
}

/** The notifications of a chat, shown on demand. */
function Notices({ host, clientId, name }: { host: Host; clientId: string; name: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        tone="quiet"
        className="-ml-3 text-xs"
        data-testid="chat-notices"
        aria-expanded={open}
        aria-label={open ? t("channels.notices.hideNamed", { name }) : t("channels.notices.showNamed", { name })}
        onClick={() => setOpen(!open)}
      >
        {open ? t("channels.notices.hide") : t("channels.notices.show")}
      </Button>
      {open ? <ChatNotices host={host} clientId={clientId} /> : null}
    </>
  );
}

interface SenderProps {
  sender: ChannelSender;
  busy: boolean;
  state: string;
  /** "" where nothing can be done. */
  action: string;
  label: string;
  onAct: () => void;
}

function Sender({ sender, busy, state, action, label, onAct }: SenderProps) {
  return (
    <li data-testid="channel-sender" className="flex items-center gap-x-2">
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <bdi>{senderName(sender)}</bdi>
        <span className="ml-2 text-faint text-xs">{state}</span>
      </p>
      {action ? (
        <Button
          tone="quiet"
          className="-mr-2 shrink-0 text-xs"
          data-testid="sender-act"
          aria-label={label}
          busy={busy}
          onClick={onAct}
        >
          {action}
        </Button>
      ) : null}
    </li>
  );
}

/** What the people of a chat may do, in a sentence. */
function access(grants: readonly string[]): string {
  if (!grants.includes("prompt")) {
    return t("channels.chat.mayView");
  }
  return grants.includes("approve") ? t("channels.chat.mayApprove") : t("channels.chat.mayPrompt");
}
