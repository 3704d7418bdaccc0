// Chat channels of a machine: one that works, with a chat of strange names, and one whose token was rejected.
import type { Channel, ChannelPlatform } from "../src/api/types";
import type { FakeHost } from "../src/app/testing/fake-scorel";
import { unbroken } from "./texts";

const hour = 3_600_000;
const now = Date.now();

const token = { name: "token", usage: "token of the bot, from @BotFather", secret: true };
const api = { name: "api", usage: "address of the API, for a server of your own", optional: true };

const platforms: ChannelPlatform[] = [
  { kind: "telegram", title: "Telegram", settings: [token, api] },
  {
    kind: "slack",
    title: "Slack",
    settings: [token, { name: "app-token", usage: "token of the app", secret: true }, api],
  },
  {
    kind: "webhook",
    title: "Webhook",
    settings: [
      { name: "url", usage: "address" },
      { ...token, name: "secret" },
    ],
  },
];

const telegram: Channel = {
  ...{ id: "chn_1", kind: "telegram", name: "Telegram", state: "connected", addedAt: now - 90 * hour },
  ...{ bot: "@ada_scorel_bot", link: "https://t.me/ada_scorel_bot" },
  chats: [
    {
      ...{ id: "4711", clientId: "chat_1", title: "Ada", direct: true, projectId: "p1", sessionId: "s2" },
      ...{ grants: ["view", "prompt", "approve", "files"], boundAt: now - 80 * hour },
      senders: [{ id: "4711", name: "Ada", addedAt: now - 80 * hour }],
    },
    {
      ...{ id: "-1001", clientId: "chat_2", title: `Team ${unbroken.slice(0, 40)}`, projectId: "p1" },
      ...{ grants: ["view", "prompt"], boundAt: now - 2 * hour, expiresAt: now + 6 * hour },
      senders: [
        { id: "4711", name: "Ada", addedAt: now - 2 * hour },
        { id: "4712", name: "غادة", addedAt: now - hour },
      ],
      ignored: [{ id: "666", name: "Eve \u202eevE" }],
    },
    { id: "7", title: "Somebody", direct: true, senders: [], ignored: [{ id: "7", name: "Somebody" }] },
  ],
};

const slack: Channel = {
  ...{ id: "chn_2", kind: "slack", name: "On call", state: "failed", addedAt: now - hour, waiting: 2, chats: [] },
  problem: "Slack: the platform rejected the token: invalid_auth",
};

/** Answers about the chat channels. */
export function channels(host: FakeHost): void {
  host.handlers.list_channels = () => ({ channels: [telegram, slack], platforms });
  host.handlers.pair_channel = () => ({
    ...{ code: "7K3M-9QXR", expiresAt: Date.now() + 600_000 },
    ...{ bot: "@ada_scorel_bot", link: "https://t.me/ada_scorel_bot" },
  });
}
