import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";

const sentence =
  "The queue is bounded, and `slow_consumer` closes only that channel; see [the protocol](https://example.com). ";
const parts = [
  `## A heading\n\n${sentence.repeat(3)}\n\n`,
  `- ${sentence}\n- **Bold** and _light_ words in a list\n- ${sentence}\n\n`,
  `\`\`\`go\nfunc (q *Queue) Push(record Record) error {\n\tif q.bytes+len(record) > q.limit {\n\t\treturn ErrFull // closes the channel\n\t}\n\treturn nil\n}\n\`\`\`\n\n`,
  `| package | purpose |\n|---|---|\n| \`relay\` | ${sentence}|\n| \`host\` | ${sentence}|\n\n`,
];

/** Returns about `words` words of Markdown as models write it. */
export function prose(words: number): string {
  let text = "";
  for (let i = 0; text.split(" ").length < words; i++) {
    text += parts[i % parts.length];
  }
  return text;
}

/**
 * A model behind an OpenAI-compatible server: it answers a prompt "write N at R" with N pieces of Markdown, R of them
 * per second.
 */
export class ModelServer {
  /** The prompt tokens that it reports. */
  promptTokens = 10;
  readonly #server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => void this.#answer(body, response));
  });

  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(body: string, response: ServerResponse): Promise<void> {
    const prompts = [...body.matchAll(/write (\d+) at (\d+)/g)];
    const [, count = 1, rate = 1000] = (prompts.at(-1) ?? []).map(Number);
    const pieces =
      prose(count)
        .match(/\S+\s*|\s+/g)
        ?.slice(0, count) ?? [];
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (choice: object, more = {}) =>
      response.write(
        `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "scripted", choices: [{ index: 0, ...choice }], ...more })}\n\n`,
      );
    const begun = Date.now();
    let sent = 0;
    while (sent < pieces.length && !response.destroyed) {
      const due = Math.min(pieces.length, Math.ceil(((Date.now() - begun) * rate) / 1000));
      for (; sent < due; sent++) {
        send({ delta: { content: pieces[sent] }, finish_reason: null });
      }
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    send({ delta: {}, finish_reason: "stop" });
    response.end(
      `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: this.promptTokens, completion_tokens: sent, total_tokens: this.promptTokens + sent } })}\n\ndata: [DONE]\n\n`,
    );
  }
}
