import type { Channel, ChannelChat, ChannelSender } from "../../api/types";
import type { Tone } from "../../components/Badge";
import { t } from "../../i18n/channels";
import { visible } from "../shared/visible";

/** The state of a channel: whether messages arrive. */
export function stateOf({ state }: Channel): { text: string; tone: Tone } {
  switch (state) {
    case "connected":
      return { text: t("channels.state.connected"), tone: "accent" };
    case "failed":
      return { text: t("channels.state.failed"), tone: "danger" };
    default:
      return { text: t("channels.state.connecting"), tone: "neutral" };
  }
}

/** What a setting of a platform is. The words of the host serve for one of a newer host. */
export function settingText(kind: string, name: string, usage: string): string {
  switch (`${kind}/${name}`) {
    case "telegram/token":
      return t("channels.setting.telegramToken");
    case "slack/token":
      return t("channels.setting.slackToken");
    case "slack/app-token":
      return t("channels.setting.slackAppToken");
    case "discord/token":
      return t("channels.setting.discordToken");
    case "qq/app-id":
      return t("channels.setting.qqAppId");
    case "qq/secret":
      return t("channels.setting.qqSecret");
    case "webhook/url":
      return t("channels.setting.webhookUrl");
    case "webhook/secret":
      return t("channels.setting.webhookSecret");
    default:
      return name === "api" ? t("channels.setting.api") : visible(usage || name);
  }
}

/** A chat as people know it. Strangers choose the title. */
export const chatName = ({ title, id }: ChannelChat): string => visible(title || id);

/** A person in a chat. Strangers choose the name, so the id of the platform stands beside it. */
export const senderName = ({ name, id }: ChannelSender): string => (name ? `${visible(name)} (${id})` : id);
