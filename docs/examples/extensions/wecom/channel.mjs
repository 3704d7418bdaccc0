// The side of a channel server that faces the program: MCP over standard input and output, with
// the capabilities claude/channel and scorel/channel. A platform has the methods
//
//   start(take)       connects. take(update) resolves when the program has the update, also for one
//                     that is repeated
//   check()           returns who the bot is
//   send(message)     sends a message and returns its id
//   edit(message)     replaces a message, if the platform can
//   answer(notice)    answers a press
//   read(ref)         returns the bytes of a file of a message
//
// whose errors are Failure.
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";

/** A failure with one of the kinds of scorel/channel; without a kind it may go away. */
export class Failure extends Error {
  constructor(text, kind, after) {
    super(text);
    this.kind = kind;
    this.after = after; // milliseconds, of rate_limited
  }
}

/** A Map that forgets the oldest of more than `limit` entries. */
export class Recent extends Map {
  constructor(limit) {
    super();
    this.limit = limit;
  }
  set(key, value) {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.limit) this.delete(this.keys().next().value);
    return this;
  }
}

const maxFile = 20 << 20;
const maxChunk = 1 << 20;
const maxWaiting = 200; // updates that were not acknowledged; the program takes 256

const string = { type: "string" };
const tool = (name, description, properties = {}, required = []) => ({ name, description, inputSchema: { type: "object", properties, required } });

export function serve(options) {
  new Server(options).listen();
}

class Server {
  constructor({ name, instructions, capability, allow, platform }) {
    Object.assign(this, { name, instructions, capability, allow, platform });
    this.extended = false; // the program knows scorel/channel
    this.waiting = new Map(); // id of an update to what resolves it
    this.seen = new Recent(1000); // ids of updates to what resolves when the program has them
    this.chats = new Recent(256); // chats in which an allowed sender has written, to whether they are direct
    this.asked = new Recent(16); // requests for permission, by their ids
    this.uploads = new Recent(4); // parts of files that are sent next
    this.reading = undefined; // the file that is being read
  }

  listen() {
    createInterface({ input: process.stdin })
      .on("line", (line) => this.receive(JSON.parse(line)))
      .on("close", () => process.exit(0));
  }

  write(message) {
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  async receive({ id, method, params }) {
    if (id === undefined) return this.notified(method, params);
    try {
      this.write({ id, result: await this.request(method, params) });
    } catch (error) {
      this.write({ id, error: { code: -32601, message: error.message } });
    }
  }

  async notified(method, params) {
    if (method === "notifications/scorel/channel/ack") {
      this.waiting.get(params.id)?.();
      this.waiting.delete(params.id);
    } else if (method === "notifications/claude/channel/permission_request") {
      await this.ask(params).catch((error) => console.error(`asking for permission: ${error.message}`));
    }
  }

  async request(method, params) {
    switch (method) {
      case "initialize":
        return this.initialize(params);
      case "ping":
        return {};
      case "tools/list":
        return { tools: this.tools() };
      case "tools/call":
        return this.result(() => this.call(params.name, params.arguments ?? {}));
    }
    throw new Error(`unknown method ${method}`);
  }

  initialize(params) {
    this.extended = params.capabilities?.experimental?.["scorel/channel"] !== undefined;
    // A program that hears nobody must not take the messages of one that does.
    if (this.extended || this.allow.length > 0) this.platform.start((update) => this.take(update));
    else console.error("nobody is heard: list user ids in the variable for allowed senders");
    return {
      protocolVersion: "2025-06-18",
      serverInfo: { name: this.name, version: "1.0.0" },
      capabilities: { tools: {}, experimental: { "claude/channel": {}, "claude/channel/permission": {}, "scorel/channel": this.capability } },
      instructions: this.instructions,
    };
  }

  tools() {
    const list = [tool("reply", "Answers in a chat.", { chat_id: string, text: string }, ["chat_id", "text"])];
    if (!this.extended) return list;
    if (this.platform.edit) list.push(tool("scorel_edit", "Replaces a message."));
    return list.concat(
      tool("scorel_check", "Says who the bot is."),
      tool("scorel_send", "Sends a message."),
      tool("scorel_answer", "Answers a press of a button."),
      tool("scorel_read_file", "Reads a part of a file of a message."),
      tool("scorel_write_file", "Writes a part of a file that is sent next."),
    );
  }

  /** result makes the result of a tool of what it returned or threw. */
  async result(run) {
    try {
      return { content: [], structuredContent: await run() };
    } catch (error) {
      const kind = error instanceof Failure && error.kind ? error.kind : "failed";
      return { isError: true, content: [{ type: "text", text: error.message }], structuredContent: { error: kind, after: error.after } };
    }
  }

  async call(name, given) {
    switch (name) {
      case "reply":
        return this.reply(given);
      case "scorel_check":
        return this.platform.check();
      case "scorel_send":
        return { id: await this.platform.send({ ...given, file: this.file(given.file) }) };
      case "scorel_edit":
        await this.platform.edit(given);
        return {};
      case "scorel_answer":
        await this.platform.answer(given);
        return {};
      case "scorel_read_file":
        return this.readFile(given);
      case "scorel_write_file":
        return this.writeFile(given);
    }
    throw new Failure(`unknown tool ${name}`, "rejected");
  }

  /** reply sends a text of a program that does not know scorel/channel. */
  async reply({ chat_id: chat, text }) {
    if (!this.chats.has(chat)) throw new Failure("no allowed sender has written in this chat", "chat_gone");
    for (let rest = Buffer.from(text); rest.length > 0; ) {
      let end = Math.min(rest.length, this.capability.text - 4 * this.capability.markup);
      while (end < rest.length && (rest[end] & 0xc0) === 0x80) end--; // a character stays whole
      await this.platform.send({ key: `reply-${randomUUID()}`, chat, parts: [{ kind: "text", text: rest.subarray(0, end).toString() }] });
      rest = rest.subarray(end);
    }
    return {};
  }

  /** ask shows a request for permission in the direct chat that was heard last: others would read it in a group. */
  async ask({ request_id: id, tool_name: name, description, input_preview: input }) {
    const chat = [...this.chats].findLast(([, direct]) => direct)?.[0];
    if (!chat || !/^[\w-]{1,40}$/.test(id)) return;
    this.asked.set(id, chat);
    const parts = [
      { kind: "bold", text: `Permission needed: ${name}` },
      { kind: "text", text: `\n${String(description).slice(0, 500)}` },
    ];
    if (input) parts.push({ kind: "block", text: String(input).slice(0, 1000) });
    const buttons = ["allow", "deny"].map((what) => ({ label: what === "allow" ? "Allow" : "Deny", data: `p:${what}:${id}` }));
    await this.platform.send({ key: `ask-${id}`, chat, parts, buttons });
  }

  /** take passes an update on, once. One that is repeated is taken when the first is. */
  async take(update) {
    if (this.seen.has(update.id)) return this.seen.get(update.id);
    if (!this.hears(update)) return;
    if (this.waiting.size >= maxWaiting) throw new Failure("too many messages wait");
    const taken = this.extended ? this.pass(update) : this.notify(update);
    this.seen.set(update.id, taken);
    return taken;
  }

  /** pass resolves when the program has acknowledged an update. */
  pass(update) {
    const taken = new Promise((resolve) => this.waiting.set(update.id, resolve));
    this.write({ method: "notifications/scorel/channel", params: { update } });
    return taken;
  }

  /** notify passes an update on to a program that acknowledges nothing. */
  async notify({ message, press }) {
    if (message) this.heard(message);
    else await this.pressed(press);
  }

  /** hears reports whether an update is of an allowed sender. scorel has a list of its own. */
  hears({ message, press }) {
    const from = (message ?? press)?.from;
    if (!this.extended && message && !message.addressed) return false;
    return this.allow.length === 0 || !from ? this.extended : this.allow.includes(from.id);
  }

  heard({ chat, from, id, text = "", files = [] }) {
    this.chats.set(chat.id, chat.direct);
    const content = [text, ...files.map((file) => `[a file that cannot be read here: ${file.name}]`)].filter(Boolean).join("\n");
    this.write({ method: "notifications/claude/channel", params: { content, meta: { chat_id: chat.id, user_id: from.id, message_id: id } } });
  }

  /** pressed answers a request for permission, once. */
  async pressed({ chat, data, ref }) {
    const [kind, behavior, id] = data.split(":");
    let notice = "This was answered already.";
    if (kind === "p" && this.asked.get(id) === chat.id) {
      this.asked.delete(id);
      this.write({ method: "notifications/claude/channel/permission", params: { request_id: id, behavior } });
      notice = behavior === "allow" ? "Allowed" : "Denied";
    }
    await this.platform.answer({ chat: chat.id, ref, notice }).catch((error) => console.error(`answering a press: ${error.message}`));
  }

  async readFile({ ref, at }) {
    if (this.reading?.ref !== ref) this.reading = { ref, data: await this.platform.read(ref, maxFile) };
    const part = this.reading.data.subarray(at, at + maxChunk);
    const last = at + part.length >= this.reading.data.length;
    if (last) this.reading = undefined;
    return { data: part.toString("base64"), last };
  }

  writeFile({ upload, at, data }) {
    const have = at === 0 ? [] : this.uploads.get(upload);
    const part = Buffer.from(data, "base64");
    if (!have || size(have) !== at || at + part.length > maxFile) throw new Failure("this part of a file cannot be used", "rejected");
    this.uploads.set(upload, [...have, part]);
    return {};
  }

  file(file) {
    if (!file) return undefined;
    const parts = this.uploads.get(file.upload);
    if (!parts) throw new Failure("the file was not written");
    this.uploads.delete(file.upload); // it is written again before another attempt
    return { name: file.name, mime: file.mime ?? "", data: Buffer.concat(parts) };
  }
}

const size = (parts) => parts.reduce((sum, part) => sum + part.length, 0);
