import { Failure } from "../wecom/channel.mjs";

const kinds = {
  chat_gone: [230002, 230045], // the bot or the chat is not there any more
  message_gone: [230011, 231003],
  unauthorized: [10003, 10014],
};
const noBot = 230006;
const tooMany = [230020, 99991400];

// With these, the long connection refuses the id or the secret; other codes may go away.
const wrongSecret = [10003, 10014, 403, 514];

/** refused is the failure of a connection that the SDK gave up. Its text has the code. */
export function refused({ message }) {
  const code = Number(/code=(\d+)/.exec(message)?.[1]);
  return new Failure(`Feishu refuses the app: ${message}`, wrongSecret.includes(code) ? "unauthorized" : undefined);
}

/** asFailure makes a failure of an answer with a code. */
export function asFailure({ code, msg }, response) {
  const text = `Feishu: ${msg} (${code ?? "no code"})`;
  if (response?.status === 429 || tooMany.includes(code)) {
    const after = Number(response?.headers?.["x-ogw-ratelimit-reset"]);
    return new Failure(text, "rate_limited", after > 0 ? after * 1000 : 1000);
  }
  if (code === noBot) return new Failure(`the app has no bot: enable the bot in the developer console, then publish the app (${code})`); // what waits is sent then
  const kind = Object.keys(kinds).find((name) => kinds[name].includes(code));
  if (kind) return new Failure(text, kind);
  if (/tenant_access_token, code: (10003|10014)/.test(msg)) return new Failure(text, "unauthorized");
  if (code >= 230_000 && code < 240_000) return new Failure(text, "rejected");
  return new Failure(text);
}
