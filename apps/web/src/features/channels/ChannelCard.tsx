import { useState } from "react";
import type { Host } from "../../api/contract";
import type { Channel, ChannelChat, ChannelSender, HostInfo } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { t } from "../../i18n/channels";
import { visible } from "../shared/visible";
import { ChatRow } from "./ChatRow";
import { PairChat } from "./PairChat";
import { stateOf } from "./words";

export interface ChannelCardProps {
  host: Host;
  info: HostInfo | null;
  channel: Channel;
  /** The name of its platform. */
  platform: string;
  /** The action that is running; null if none is. */
  busy: string | null;
  onTest: () => void;
  onRemove: () => void;
  onRemoveChat: (chat: ChannelChat) => void;
  onAllow: (chat: ChannelChat, sender: ChannelSender, allowed: boolean) => void;
}

/** A channel: whether messages arrive, its chats, and the actions for it. */
export function ChannelCard(props: ChannelCardProps) {
  const { host, info, channel, platform, busy, onTest, onRemove } = props;
  const { id, name, bot, link, problem, waiting, chats } = channel;
  const [pairing, setPairing] = useState(false);
  const { text, tone } = stateOf(channel);
  return (
    <Card data-testid="channel" data-state={channel.state} className="p-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{visible(name)}</span>
        {platform === name ? null : <span className="text-faint text-xs">{platform}</span>}
        <span className="ml-auto">
          <Badge tone={tone}>{text}</Badge>
        </span>
      </div>
      {bot ? (
        <p className="mt-1 text-muted [overflow-wrap:anywhere]">
          {link?.startsWith("https://") ? (
            <a
              href={link}
              target="_blank"
              rel="noopener noreferrer"
              className="touchable inline-flex items-center text-accent underline underline-offset-2"
            >
              {visible(bot)}
            </a>
          ) : (
            visible(bot)
          )}
        </p>
      ) : null}
      {problem ? (
        <p data-testid="channel-problem" className="mt-1 break-words text-danger">
          {t("channels.card.lastError", { reason: visible(problem) })}
        </p>
      ) : null}
      {waiting ? <p className="mt-1 text-muted">{t("channels.card.waiting", { count: waiting })}</p> : null}
      {chats.length > 0 ? (
        <ul className="mt-2 divide-y divide-line border-line border-y">
          {chats.map((chat) => (
            <ChatRow
              key={chat.id}
              {...{ host, chat, busy }}
              onRemove={() => props.onRemoveChat(chat)}
              onAllow={(sender, allowed) => props.onAllow(chat, sender, allowed)}
            />
          ))}
        </ul>
      ) : (
        <p className="mt-2">{t("channels.card.noChats")}</p>
      )}
      {pairing ? (
        <PairChat host={host} info={info} channel={channel} onClose={() => setPairing(false)} />
      ) : (
        <div className="-ml-3 mt-1 flex flex-wrap gap-x-1">
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="channel-pair"
            aria-label={t("channels.card.pairNamed", { name })}
            onClick={() => setPairing(true)}
          >
            {t("channels.card.pair")}
          </Button>
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="channel-test"
            aria-label={t("channels.card.testNamed", { name })}
            busy={busy === `test ${id}`}
            onClick={onTest}
          >
            {t("channels.card.test")}
          </Button>
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="channel-remove"
            aria-label={t("channels.card.removeNamed", { name })}
            onClick={onRemove}
          >
            {t("channels.card.remove")}
          </Button>
        </div>
      )}
    </Card>
  );
}
