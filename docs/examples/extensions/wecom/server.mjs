// A channel server for the smart bots of WeCom. It needs Node 20 or later and no packages.
//
//   WECOM_BOT_ID, WECOM_BOT_SECRET  the bot, whose API mode is "long connection"
//   WECOM_ALLOW      user ids with commas between them. Programs that do not know scorel/channel
//                    hear only these; scorel keeps lists of its own, and this one as well if it
//                    is not empty
//   WECOM_URL        another address, for a private deployment
//   WECOM_HEARTBEAT  seconds between two heartbeats, 30 if it is not set
//   WECOM_ANSWER_TIME  seconds in which a press is answered, 4 if it is not set: WeCom takes an
//                      answer within five seconds of the press, which came before it was heard
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { serve } from "./channel.mjs";
import { WeCom } from "./wecom.mjs";

function main() {
  const { WECOM_BOT_ID: bot, WECOM_BOT_SECRET: secret, WECOM_ALLOW: allow = "", WECOM_URL } = process.env;
  const url = WECOM_URL || "wss://openws.work.weixin.qq.com";
  const milliseconds = (name, otherwise) => 1000 * (Number(process.env[name]) || otherwise);
  if (!bot || !secret) {
    console.error("Set WECOM_BOT_ID and WECOM_BOT_SECRET.");
    process.exit(2);
  }
  serve({
    name: "wecom",
    instructions: "Messages of WeCom arrive from people. Answer with the tool reply, in Markdown, with the chat_id of the message.",
    capability: { version: 1, text: 20480, unit: "utf8", weights: { "`": 4 }, markup: 12, file: 20 << 20, buttons: true, grows: true, editEvery: 4000 },
    allow: allow.split(",").map((id) => id.trim()).filter(Boolean),
    platform: new WeCom({ bot, secret, url, heartbeat: milliseconds("WECOM_HEARTBEAT", 30), answerTime: milliseconds("WECOM_ANSWER_TIME", 4) }),
  });
}

if (globalThis.WebSocket) main();
else {
  // Node 20 has the WebSocket of later versions behind an option.
  const child = spawn(process.execPath, ["--experimental-websocket", "--no-warnings", fileURLToPath(import.meta.url)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => process.exit(code ?? 1));
}
