// A channel server without dependencies. Each line that is appended to the file phone.in is a
// message; what is said is appended to phone.out. The line "!2" presses the second button of the
// last message that has any. Whoever can write the file is the sender "owner".
//
// It speaks claude/channel to every program, and scorel/channel to one that declares it.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const chat = { id: "line", title: "The line", direct: true };
const from = { id: "owner", name: "Owner" };
const position = "phone.position"; // how much of phone.in was taken, in bytes

let extended = false; // the client knows scorel/channel
let waiting; // the update that was not acknowledged, with the position after it
let sent = 0;
let buttons = { id: "", list: [] }; // of the last message that has any

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = { type: "string" };
const tool = (name, description, properties) => ({ name, description, inputSchema: { type: "object", properties } });

function initialize(params) {
  extended = params.capabilities?.experimental?.["scorel/channel"] !== undefined;
  setInterval(listen, 200);
  return {
    protocolVersion: "2025-06-18",
    serverInfo: { name: "phone", version: "1.0.0" },
    capabilities: {
      tools: {},
      experimental: { "claude/channel": {}, "scorel/channel": { version: 1, text: 1000, buttons: true } },
    },
    instructions: "Lines of phone.in arrive as messages. Answer with the tool reply.",
  };
}

function tools() {
  const list = [tool("reply", "Says a text on the line.", { chat_id: text, text })];
  if (extended) list.push(tool("scorel_send", "Sends a message.", {}), tool("scorel_answer", "Answers a press.", {}));
  return { tools: list };
}

// show appends a message to phone.out.
function show(message, under = []) {
  const labels = under.map((button, i) => ` [!${i + 1} ${button.label}]`).join("");
  appendFileSync("phone.out", `${message}${labels}\n`);
  return `m${++sent}`;
}

function call({ name, arguments: given }) {
  const ok = (result) => ({ content: [], structuredContent: result });
  switch (name) {
    case "reply":
      show(given.text);
      return ok({});
    case "scorel_send": {
      const id = show((given.parts ?? []).map((part) => part.text).join(""), given.buttons);
      if (given.buttons) buttons = { id, list: given.buttons };
      return ok({ id });
    }
    case "scorel_answer":
      if (given.notice) show(given.notice);
      return ok({});
  }
  return { isError: true, content: [{ type: "text", text: `unknown tool ${name}` }] };
}

// listen delivers the next line of phone.in, one at a time.
function listen() {
  if (waiting || !existsSync("phone.in")) return;
  const at = existsSync(position) ? Number(readFileSync(position, "utf8")) : 0;
  const rest = readFileSync("phone.in").subarray(at);
  const end = rest.indexOf("\n");
  if (end < 0) return;
  const line = rest.subarray(0, end).toString().trim();
  const next = at + end + 1;
  if (!extended) {
    writeFileSync(position, String(next));
    if (line) write({ method: "notifications/claude/channel", params: { content: line, meta: { chat_id: chat.id, user: from.id } } });
    return;
  }
  // The id is the same when the line is sent again after a restart.
  const update = { id: `line-${at}` };
  const pressed = /^!(\d)$/.exec(line) && buttons.list[Number(line.slice(1)) - 1];
  if (pressed) update.press = { chat, from, messageId: buttons.id, data: pressed.data, ref: update.id };
  else update.message = { chat, from, id: `line-${at}`, text: line, addressed: true };
  waiting = { id: update.id, next };
  write({ method: "notifications/scorel/channel", params: { update } });
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    const answers = { initialize, "tools/list": tools, "tools/call": call, ping: () => ({}) };
    if (method === "notifications/scorel/channel/ack" && params.id === waiting?.id) {
      writeFileSync(position, String(waiting.next));
      waiting = undefined;
    }
    if (id === undefined) return;
    if (answers[method]) write({ id, result: answers[method](params) });
    else write({ id, error: { code: -32601, message: `unknown method ${method}` } });
  })
  .on("close", () => process.exit(0));
