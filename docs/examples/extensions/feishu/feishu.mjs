// The bots of Feishu and Lark with their official SDK, which dials the long connection that
// https://open.feishu.cn/document/ukTMukTMukTM/uYDNxYjL2QTM24iN0EjN/event-subscription-configure-/request-url-configuration-case
// describes. An event that is not taken within three seconds is delivered again.
import { createHash } from "node:crypto";
import * as lark from "@larksuiteoapi/node-sdk";
import { Failure, Recent } from "../wecom/channel.mjs";
import { card } from "./card.mjs";
import { asFailure, refused } from "./errors.mjs";

const noticeWithin = 2000; // of the three seconds in which a press is answered
const later = 30_000; // after a refusal that may go away
const muchLater = 300_000; // after a wrong secret
const maxImage = 10 << 20;
const readyWithin = 15_000;

// What the SDK logs may hold a token. Its failures are reported by what was asked for.
const ignore = () => {};
const logger = { fatal: ignore, error: ignore, warn: ignore, info: ignore, debug: ignore, trace: ignore };

/** Feishu is the platform of a channel server. */
export class Feishu {
  constructor({ appId, appSecret, domain, retry }) {
    this.retry = retry; // milliseconds after a refusal; 0 is those above
    this.options = { appId, appSecret, domain, logger, loggerLevel: lark.LoggerLevel.error };
    this.client = new lark.Client(this.options);
    this.presses = new Recent(256); // what resolves with a notice
  }

  start(take) {
    const pass = async (update) => update && (await take(update));
    const dispatcher = new lark.EventDispatcher({ logger }).register({
      "im.message.receive_v1": async (event) => pass(await this.message(event)),
      "im.message.recalled_v1": async ({ message_id: id, chat_id: chat }) => pass({ id: `recalled-${id}`, deleted: { chat: { id: chat }, id } }),
      "card.action.trigger": (event) => this.press(event, take),
    });
    const socket = new lark.WSClient({
      ...this.options,
      handshakeTimeoutMs: readyWithin,
      wsConfig: { pingTimeout: 10 },
      onReady: () => this.ready(),
      onError: (error) => {
        const failure = refused(error);
        this.failed(failure);
        this.begin(); // it may have been up before
        this.failed(failure);
        setTimeout(connect, this.retry || (failure.kind ? muchLater : later));
      },
    });
    const connect = () => {
      this.begin();
      socket.start({ eventDispatcher: dispatcher }).catch((error) => this.failed(error));
    };
    connect();
  }

  /** begin makes `up`, which resolves when messages arrive. */
  begin() {
    this.up = new Promise((resolve, reject) => Object.assign(this, { ready: resolve, failed: reject }));
    this.up.catch(ignore); // whoever checks sees it
  }

  /** check returns who the bot is when messages arrive. */
  async check() {
    const late = new Promise((_, reject) => setTimeout(() => reject(new Failure("there is no connection to Feishu yet")), readyWithin).unref());
    const { id, name } = await this.self();
    await Promise.race([this.up, late]);
    return { id, name };
  }

  async self() {
    if (!this.bot) {
      const { bot } = await this.ask(() => this.client.request({ method: "GET", url: "/open-apis/bot/v3/info" }));
      this.bot = { id: bot.open_id, name: bot.app_name };
    }
    return this.bot;
  }

  /** ask makes a request and returns its answer. */
  async ask(request) {
    let answer;
    try {
      answer = await request();
    } catch (error) {
      throw asFailure(error.response?.data ?? { msg: error.message }, error.response);
    }
    if (!answer || answer.code) throw asFailure(answer ?? { msg: "no answer" });
    return answer;
  }

  async message({ sender, message }) {
    if (sender?.sender_type !== "user" || !sender.sender_id?.open_id) return undefined;
    const { message_id: id, chat_id, chat_type, mentions = [], create_time } = message;
    const bot = await this.self();
    const direct = chat_type === "p2p";
    const content = contents(message);
    const names = new Map(mentions.map(({ key, id, name }) => [key, id?.open_id === bot.id ? "" : `@${name}`]));
    const text = content.text.replace(/@_user_\d+/g, (key) => names.get(key) ?? key);
    return {
      id,
      message: {
        chat: { id: chat_id, title: direct ? "Feishu" : "Feishu group", direct },
        from: { id: sender.sender_id.open_id },
        id,
        text: text.trim(),
        files: content.files,
        addressed: direct || mentions.some((mention) => mention.id?.open_id === bot.id),
        at: Number(create_time) || 0,
      },
    };
  }

  /** press passes a press on and returns the notice that the person is shown. */
  async press(event, take) {
    const { event_id: ref, operator, action, context } = event;
    if (!operator?.open_id || typeof action?.value?.data !== "string") return {};
    const notice = new Promise((resolve) => {
      this.presses.set(ref, resolve);
      setTimeout(resolve, noticeWithin, "").unref();
    });
    const chat = { id: context.open_chat_id };
    await take({ id: ref, press: { chat, from: { id: operator.open_id }, messageId: context.open_message_id, data: action.value.data, ref } });
    const content = await notice;
    return content ? { toast: { type: "info", content } } : {};
  }

  async answer({ ref, notice }) {
    this.presses.get(ref)?.(notice);
    this.presses.delete(ref);
  }

  async send({ key, chat, parts = [], buttons = [], file }) {
    const [msg_type, content] = file ? await this.upload(file) : ["interactive", card(parts, buttons)];
    const uuid = createHash("sha256").update(key).digest("hex").slice(0, 32); // at most 50 characters
    const data = { receive_id: chat, msg_type, content: JSON.stringify(content), uuid };
    const answer = await this.ask(() => this.client.im.v1.message.create({ params: { receive_id_type: "chat_id" }, data }));
    return answer.data.message_id;
  }

  async edit({ id, parts = [], buttons = [] }) {
    const content = JSON.stringify(card(parts, buttons));
    try {
      await this.ask(() => this.client.im.v1.message.patch({ path: { message_id: id }, data: { content } }));
    } catch (error) {
      // One that is too old, for example, is sent as a new message.
      throw error.kind === "rejected" ? new Failure(error.message, "message_gone") : error;
    }
  }

  async upload({ name, mime, data }) {
    if (/^image\/(png|jpeg|gif|webp|bmp)$/.test(mime) && data.length <= maxImage) {
      const answer = await this.ask(() => this.client.im.v1.image.create({ data: { image_type: "message", image: data } }));
      return ["image", { image_key: answer.image_key }];
    }
    const answer = await this.ask(() => this.client.im.v1.file.create({ data: { file_type: "stream", file_name: name, file: data } }));
    return ["file", { file_key: answer.file_key }];
  }

  async read(ref, limit) {
    const [message_id, type, file_key] = ref.split("|");
    const answer = await this.ask(() => this.client.im.v1.messageResource.get({ path: { message_id, file_key }, params: { type } }));
    const parts = [];
    let size = 0;
    for await (const part of answer.getReadableStream()) {
      if ((size += part.length) > limit) throw new Failure("the file is too large", "rejected");
      parts.push(part);
    }
    return Buffer.concat(parts);
  }
}

/** contents returns the text and the files of a message. */
function contents({ message_id: id, message_type: type, content }) {
  const said = JSON.parse(content);
  const file = (kind, key, name) => ({ ref: `${id}|${kind}|${key}`, name });
  switch (type) {
    case "text":
      return { text: said.text, files: [] };
    case "image":
      return { text: "", files: [file("image", said.image_key, "image")] };
    case "file":
    case "audio":
    case "media":
      return { text: "", files: [file("file", said.file_key, said.file_name ?? type)] };
    case "post": {
      const all = said.content.flat();
      const lines = said.content.map((line) => line.map(({ tag, text, user_id }) => (tag === "at" ? user_id : (text ?? ""))).join(""));
      const files = all.filter(({ tag }) => tag === "img").map(({ image_key }) => file("image", image_key, "image"));
      return { text: [said.title, ...lines].filter(Boolean).join("\n"), files };
    }
  }
  return { text: `[a message of the kind ${type}, which cannot be read here]`, files: [] };
}
