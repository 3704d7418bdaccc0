import { useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type Channel, type HostInfo } from "../../api/types";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/channels";
import { AddButton } from "../shared/AddButton";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { isRefusal } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { useChange } from "../shared/use-change";
import { withHelp } from "../shared/with-help";
import { AddChannel } from "./AddChannel";
import { ChannelCard } from "./ChannelCard";
import { chatName } from "./words";

export interface ChannelListProps {
  host: Host;
  info: HostInfo | null;
}

/** What is about to be removed: a channel, or one of its chats. */
interface Removing {
  title: string;
  explained: string;
  what: string;
  run: () => Promise<unknown>;
}

/** The chat channels of a machine, with their chats. */
export default function ChannelList({ host, info }: ChannelListProps) {
  const { data, error, refetch } = useHostQuery(host, "list_channels", {});
  const { busy, error: failed, done, setDone, change } = useChange(refetch);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Removing | null>(null);
  if (isRefusal(error) && error.kind === ApiKind.unknown_request) {
    return null; // an older host
  }
  const test = ({ id }: Channel) =>
    change(`test ${id}`, async () => {
      const { channel } = await host.request("test_channel", { id });
      return t("channels.list.tested", { bot: channel.bot || channel.name });
    });
  return (
    <Section title={t("channels.list.title")} error={failed ?? (error ? withHelp(error) : null)} done={done}>
      <p className="mt-1 text-muted text-sm">{t("channels.list.explained")}</p>
      <p data-testid="channels-readable" className="mt-1 text-sm text-warn">
        {t("channels.list.readable")}
      </p>
      {data || error ? null : <Skeleton label={t("channels.list.loading")} rows={2} className="mt-2" />}
      {data?.channels.length === 0 && !adding ? <p className="mt-2 text-sm">{t("channels.list.none")}</p> : null}
      <ul className="mt-2 space-y-2 empty:mt-0">
        {data?.channels.map((channel) => (
          <li key={channel.id}>
            <ChannelCard
              {...{ host, info, channel, busy }}
              platform={data.platforms.find(({ kind }) => kind === channel.kind)?.title ?? channel.kind}
              onTest={() => test(channel)}
              onRemove={() =>
                setRemoving({
                  title: t("channels.list.removeTitle", { name: channel.name }),
                  explained: t("channels.list.removeExplained"),
                  what: t("channels.list.removed", { name: channel.name }),
                  run: () => host.request("remove_channel", { id: channel.id }),
                })
              }
              onRemoveChat={(chat) =>
                setRemoving({
                  title: t("channels.list.removeChatTitle", { name: chatName(chat) }),
                  explained: t("channels.list.removeChatExplained"),
                  what: t("channels.list.removedChat", { name: chatName(chat) }),
                  run: () => host.request("remove_chat", { id: channel.id, chatId: chat.id }),
                })
              }
              onAllow={(chat, sender, allowed) =>
                change(`allow ${chat.id} ${sender.id}`, async () => {
                  const named = { id: channel.id, chatId: chat.id, senderId: sender.id };
                  await host.request("allow_sender", { ...named, allowed });
                  return allowed ? t("channels.list.allowed") : t("channels.list.disallowed");
                })
              }
            />
          </li>
        ))}
      </ul>
      {adding && data ? (
        <AddChannel
          host={host}
          platforms={data.platforms}
          onDone={async ({ name }) => {
            await refetch();
            setAdding(false);
            setDone(t("channels.list.added", { name }));
          }}
          onCancel={() => setAdding(false)}
        />
      ) : data ? (
        <AddButton
          data-testid="channel-add"
          onClick={() => {
            setDone(null);
            setAdding(true);
          }}
        >
          {t("channels.list.add")}
        </AddButton>
      ) : null}
      {removing ? (
        <ConfirmSheet
          title={removing.title}
          confirm={t("channels.card.remove")}
          onConfirm={async () => {
            await removing.run();
            await refetch();
            setDone(removing.what);
          }}
          onClose={() => setRemoving(null)}
        >
          {removing.explained}
        </ConfirmSheet>
      ) : null}
    </Section>
  );
}
