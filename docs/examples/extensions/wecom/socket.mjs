// The connection to WeCom: one WebSocket that is opened again when it ends. Frames are
// {cmd, headers: {req_id}, body}, and an answer has the req_id of its request and an errcode.
import { randomUUID } from "node:crypto";
import { Failure } from "./channel.mjs";

const answerWithin = 10_000;
const readyWithin = 15_000;
const firstWait = 1000;
const longestWait = 30_000;
const muchLater = 300_000; // after a wrong secret, or when another program has taken the connection
const tooMany = [45009, 45033];
const wrongSecret = [853000, 40001];

export class Socket {
  constructor({ url, heartbeat, subscription }) {
    Object.assign(this, { url, heartbeat, subscription });
    this.requests = new Map(); // req_id to what its answer settles
    this.wait = firstWait;
    this.up = false; // subscribed
    this.away = new Failure("there is no connection to WeCom yet"); // why it is not
    this.watchers = new Set(); // are told when one of the two changes
  }

  /** start connects, and again whenever the connection ends. */
  start(receive) {
    this.receive = receive;
    this.connect();
  }

  /** ready resolves when messages arrive. */
  async ready() {
    const end = Date.now() + readyWithin;
    while (!this.up) {
      if (this.away.kind || Date.now() >= end) throw this.away;
      await new Promise((resolve) => {
        this.watchers.add(resolve);
        setTimeout(resolve, end - Date.now());
      });
    }
  }

  connect() {
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.onopen = () => this.subscribe(socket);
    socket.onmessage = ({ data }) => this.socket === socket && this.frame(String(data));
    socket.onerror = () => this.lost(socket);
    socket.onclose = () => this.lost(socket);
    this.opening = setTimeout(() => this.lost(socket), readyWithin);
  }

  async subscribe(socket) {
    try {
      await this.request("aibot_subscribe", this.subscription);
    } catch (error) {
      if (error.code) this.away = new Failure(`WeCom refuses the bot: ${error.message}`, wrongSecret.includes(error.code) ? "unauthorized" : undefined);
      return this.lost(socket, this.away.kind ? muchLater : undefined);
    }
    clearTimeout(this.opening);
    this.up = true;
    this.wait = firstWait;
    this.changed();
    const within = Math.min(answerWithin, this.heartbeat);
    this.beating = setInterval(() => this.request("ping", undefined, randomUUID(), within).catch(() => this.lost(socket)), this.heartbeat);
  }

  changed() {
    for (const tell of this.watchers) tell();
    this.watchers.clear();
  }

  /** lost ends a connection and plans the next one. */
  lost(socket, wait) {
    if (this.socket !== socket) return;
    this.socket = undefined;
    clearTimeout(this.opening);
    clearInterval(this.beating);
    socket.close();
    if (this.up) this.away = new Failure("the connection to WeCom was lost");
    if (wait && !this.away.kind) this.away = new Failure("another program has connected as this bot", "conflict");
    this.up = false;
    for (const { reject } of this.requests.values()) reject(this.away);
    this.changed();
    setTimeout(() => {
      this.away = new Failure("there is no connection to WeCom yet");
      this.connect();
    }, wait ?? this.wait);
    this.wait = Math.min(2 * this.wait, longestWait);
  }

  frame(data) {
    let frame;
    try {
      frame = JSON.parse(data);
    } catch {
      return; // is skipped, as unknown frames are
    }
    if (frame?.cmd === "aibot_msg_callback") return this.receive(frame);
    if (frame?.cmd === "aibot_event_callback") {
      if (frame.body?.event?.eventtype !== "disconnected_event") return this.receive(frame);
      return this.lost(this.socket, muchLater);
    }
    this.requests.get(frame?.headers?.req_id)?.resolve(frame);
  }

  /** request returns the body of an answer. Without an id of its own it gets a new one. */
  async request(cmd, body, id = randomUUID(), within = answerWithin) {
    if (this.socket?.readyState !== WebSocket.OPEN || (!this.up && cmd !== "aibot_subscribe")) throw this.away;
    const answer = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Failure("WeCom did not answer")), within);
      const settled = (settle) => (value) => {
        clearTimeout(timer);
        this.requests.delete(id);
        settle(value);
      };
      this.requests.set(id, { resolve: settled(resolve), reject: settled(reject) });
      this.socket.send(JSON.stringify({ cmd, headers: { req_id: id }, body }));
    });
    if (answer.errcode) throw refused(answer);
    return answer.body ?? {};
  }
}

/** refused is the failure of an errcode. */
function refused({ errcode, errmsg }) {
  let failure = new Failure(`${errmsg} (${errcode})`);
  if (tooMany.includes(errcode)) failure = new Failure(errmsg, "rate_limited", 60_000);
  else if (errcode >= 40_000 && errcode < 50_000) failure = new Failure(`${errmsg} (${errcode})`, "rejected");
  failure.code = errcode;
  return failure;
}
