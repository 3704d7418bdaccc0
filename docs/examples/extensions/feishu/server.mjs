// A channel server for the bots of Feishu and Lark. `npm install && npm run build` makes the
// extension in dist.
//
//   FEISHU_APP_ID, FEISHU_APP_SECRET  a custom app with a bot, whose events and callbacks use the
//                                     long connection
//   FEISHU_DOMAIN  https://open.larksuite.com for Lark
//   FEISHU_ALLOW   open ids with commas between them. Programs that do not know scorel/channel hear
//                  only these; scorel keeps lists of its own, and this one as well if it is not empty
//   FEISHU_RETRY   seconds until a connection that Feishu refused is tried again, instead of 30, or
//                  300 after a wrong secret
import { serve } from "../wecom/channel.mjs";
import { Feishu } from "./feishu.mjs";

const { FEISHU_APP_ID: appId, FEISHU_APP_SECRET: appSecret, FEISHU_DOMAIN: domain, FEISHU_ALLOW: allow = "", FEISHU_RETRY: retry = "" } = process.env;
if (!/^cli_[0-9a-f]{16}$/i.test(appId ?? "") || !appSecret) {
  console.error("Set FEISHU_APP_ID, which is cli_ and 16 hexadecimal digits, and FEISHU_APP_SECRET.");
  process.exit(2);
}
serve({
  name: "feishu",
  instructions: "Messages of Feishu arrive from people. Answer with the tool reply, with the chat_id of the message.",
  // A card has 30 KB of JSON, in which some characters take two bytes and each part its element.
  capability: {
    version: 1, text: 20_000, unit: "utf8", weights: { '"': 2, "\\": 2, "\n": 2, "<": 4, "`": 4 }, markup: 60,
    every: 250, editEvery: 1000, file: 20 << 20, edits: true, buttons: true, idempotent: true,
  },
  allow: allow.split(",").map((id) => id.trim()).filter(Boolean),
  platform: new Feishu({ appId, appSecret, domain: domain || "https://open.feishu.cn", retry: 1000 * Number(retry) }),
});
