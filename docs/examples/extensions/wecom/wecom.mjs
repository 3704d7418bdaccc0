// The smart bots of WeCom, as https://developer.work.weixin.qq.com/document/path/101463 describes
// them. Messages of people are not delivered again: those that were written while no connection was
// up are lost.
import { randomUUID } from "node:crypto";
import { Failure, Recent } from "./channel.mjs";
import { download, uploadPlan } from "./media.mjs";
import { Socket } from "./socket.mjs";

const maxText = 20480; // bytes of a Markdown message
const maxButtons = 6; // of a card
const windows = [
  [60_000, 30],
  [3_600_000, 1000],
]; // messages to one chat
const noButton = "-"; // the key of a button that was answered
// A message of a person can be answered with texts that grow. WeCom gives one up after ten minutes,
// sometimes without an error.
const growsFor = 300_000;
const growsBelow = 15; // messages in a minute: others have room too

/** WeCom is the platform of a channel server. */
export class WeCom {
  constructor({ bot, secret, url, heartbeat, answerTime }) {
    this.bot = bot;
    this.answerTime = answerTime; // in which a card is updated after a press
    this.local = url.startsWith("ws://"); // a test: files come without TLS as well
    this.socket = new Socket({ url, heartbeat, subscription: { bot_id: bot, secret } });
    this.sent = new Recent(1000); // keys of messages to how many of their steps were done
    this.pressed = new Recent(256); // presses that can be answered
    this.files = new Recent(256); // files that can be read
    this.times = new Recent(256); // of chats, when messages were sent
    this.heard = new Recent(256); // chats to the request of the last message and when it came
    this.texts = new Recent(256); // keys of texts that grow to what is known of them
  }

  start(take) {
    this.socket.start((frame) => {
      const update = this.update(frame);
      if (update) take(update).catch((error) => console.error(`a message was not taken: ${error.message}`));
    });
  }

  async check() {
    await this.socket.ready();
    return { id: this.bot, name: this.bot };
  }

  /** update reads what a frame says; undefined for something else. */
  update({ headers, body }) {
    if (!body?.msgid || !body.from?.userid) return undefined;
    const group = body.chattype === "group";
    const chat = { id: group ? `group:${body.chatid}` : `single:${body.from.userid}`, title: group ? "WeCom group" : "WeCom", direct: !group };
    const from = { id: body.from.userid, name: body.from.userid };
    const id = body.msgid;
    if (body.msgtype === "event") return this.press({ chat, from, id, event: body.event, request: headers.req_id });
    this.heard.set(chat.id, { request: headers.req_id, at: Date.now() });
    const message = { chat, from, id, addressed: true, ...this.content(body, group) };
    return message.text || message.files.length > 0 ? { id, message } : undefined;
  }

  press({ chat, from, id, event, request }) {
    if (event?.eventtype !== "template_card_event") return undefined;
    const { event_key: key, task_id: task } = event.template_card_event ?? event;
    if (!key || !task || key === noButton) return undefined;
    this.pressed.set(id, { request, task, user: from.id, at: Date.now() });
    return { id, press: { chat, from, messageId: task.split("@")[0], data: key, ref: id } };
  }

  /** content returns the text and the files of a message. */
  content(body, group) {
    const items = body.msgtype === "mixed" ? (body.mixed?.msg_item ?? []) : [body];
    const texts = [];
    const files = [];
    for (const item of items) {
      const one = item[item.msgtype];
      if (item.msgtype === "text" || item.msgtype === "voice") texts.push(one?.content ?? "");
      else if (one?.url) files.push(this.file(item.msgtype, one, `${body.msgid}/${files.length}`));
    }
    let text = texts.join("\n");
    if (group) text = text.replace(/^\s*@\S+\s*/, ""); // who is addressed is the bot
    return { text, files };
  }

  file(type, { url, aeskey }, ref) {
    this.files.set(ref, { url, aeskey });
    return { ref, name: type };
  }

  async read(ref, limit) {
    const file = this.files.get(ref);
    if (!file) throw new Failure("the file is not known any more", "rejected");
    return download(file, limit, this.local);
  }

  /** send sends a message in as many steps as WeCom needs. Another attempt continues. */
  async send({ key, chat, parts = [], buttons = [], file, growing }) {
    const text = render(parts);
    if (Buffer.byteLength(text) > maxText) throw new Failure("the message is too long", "rejected");
    if (growing) return this.begin(key, chat, text);
    const steps = [];
    if (text) steps.push(() => this.push(chat, { msgtype: "markdown", markdown: { content: text } }));
    if (file) steps.push(() => this.sendFile(chat, file));
    for (let n = 0; n < buttons.length; n += maxButtons) {
      steps.push(() => this.push(chat, { msgtype: "template_card", template_card: card(key, parts, buttons.slice(n, n + maxButtons)) }));
    }
    for (let n = this.sent.get(key) ?? 0; n < steps.length; n++) {
      await steps[n]();
      this.sent.set(key, n + 1);
    }
    return key;
  }

  /** begin shows the beginning of a text that grows, as an answer to the last message if that is not long ago. */
  async begin(key, chat, content) {
    const { request, at } = this.heard.get(chat) ?? { at: 0 };
    this.texts.set(key, { chat, request, until: at + growsFor });
    await this.grow(key, content);
    return key;
  }

  /** edit shows more of a text that grows, or all of it. Nothing else can be edited. */
  async edit({ id, parts = [], growing }) {
    const content = render(parts);
    if (growing) return this.grow(id, content);
    const text = this.texts.get(id);
    const shown = text?.shown && Date.now() < text.until && (await this.respond(id, text, content, true));
    this.texts.delete(id);
    if (!shown) throw new Failure("the message cannot be edited any more", "message_gone");
  }

  /** grow shows a text as far as it is written, if there is room for it. */
  async grow(key, content) {
    const text = this.texts.get(key);
    const now = Date.now();
    if (!text?.request) return;
    if (now >= text.until) {
      if (text.shown) await this.respond(key, text, `${text.shown} …`, true); // the whole follows as another message
      text.request = text.shown = undefined;
      return;
    }
    if (this.recent(text.chat, now).filter((at) => at > now - windows[0][0]).length >= growsBelow) return;
    if (await this.respond(key, text, content, false)) text.shown = content;
    else text.request = undefined;
  }

  /** respond shows a text in the message with a key; false if WeCom refuses that. */
  async respond(key, { chat, request }, content, finish) {
    this.allow(chat, Date.now());
    try {
      await this.socket.request("aibot_respond_msg", { msgtype: "stream", stream: { id: key, content, finish } }, request);
    } catch (error) {
      if (!error.code || error.kind === "rate_limited") throw error;
      return false;
    }
    return true;
  }

  async sendFile(chat, file) {
    const { type, begin, chunks } = uploadPlan(file);
    const { upload_id } = await this.socket.request("aibot_upload_media_init", begin);
    for (const chunk of chunks) await this.socket.request("aibot_upload_media_chunk", { upload_id, ...chunk });
    const { media_id } = await this.socket.request("aibot_upload_media_finish", { upload_id });
    await this.push(chat, { msgtype: type, [type]: { media_id } });
  }

  /** push sends one message if the limits of its chat allow it. */
  async push(chat, message) {
    const [kind, id] = [chat.slice(0, chat.indexOf(":")), chat.slice(chat.indexOf(":") + 1)];
    if (kind !== "single" && kind !== "group") throw new Failure("there is no such chat", "chat_gone");
    this.allow(chat, Date.now());
    await this.socket.request("aibot_send_msg", { chatid: id, chat_type: kind === "group" ? 2 : 1, ...message });
  }

  /** allow counts a message to a chat, unless its limits forbid it. */
  allow(chat, now) {
    const times = this.recent(chat, now);
    for (const [span, most] of windows) {
      const first = times.at(-most);
      if (first > now - span) throw new Failure("WeCom allows no more messages to this chat for a while", "rate_limited", first + span - now);
    }
    this.times.set(chat, [...times, now]);
  }

  /** recent returns when messages were sent to a chat in the longest of the windows. */
  recent(chat, now) {
    return (this.times.get(chat) ?? []).filter((at) => at > now - 3_600_000);
  }

  /** answer replaces the buttons for the person who pressed one, if it is not too late. */
  async answer({ ref, notice }) {
    const press = this.pressed.get(ref);
    if (!press || Date.now() - press.at > this.answerTime) return;
    this.pressed.delete(ref);
    const done = { card_type: "button_interaction", main_title: { title: cut(notice || "Done", 26) }, button_list: [{ text: "✓", key: noButton }], task_id: press.task };
    const body = { response_type: "update_template_card", userids: [press.user], template_card: done };
    await this.socket.request("aibot_respond_update_msg", body, press.request);
  }
}

/** render writes parts as Markdown. What is not marked stays as it is. */
function render(parts) {
  return parts
    .map(({ kind, text, lang = "" }) => {
      const inside = text.replaceAll("`", "`\u200b"); // ends neither code nor a block
      if (kind === "bold") return `**${text}**`;
      if (kind === "code") return `\`${inside}\``;
      if (kind === "block") return `\n\`\`\`${lang}\n${inside}\n\`\`\`\n`;
      return text;
    })
    .join("")
    .trim();
}

/** card has the buttons of a message, which is the one before it. */
function card(key, parts, buttons) {
  const title = parts.map((part) => part.text).join("").trim().split("\n")[0];
  return {
    card_type: "button_interaction",
    main_title: { title: cut(title || "Choose", 26) },
    button_list: buttons.map(({ label, data }) => ({ text: cut(label, 10), key: data })),
    task_id: `${key}@${randomUUID()}`,
  };
}

/** cut shortens a text to so many characters. */
function cut(text, most) {
  const all = [...text];
  return all.length <= most ? text : `${all.slice(0, most - 1).join("")}…`;
}
