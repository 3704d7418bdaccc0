import { createInterface } from "node:readline";

// An MCP server on standard input and output with one tool, for tests that start a real one.

const tools = [
  {
    name: "beam",
    description: `Turns the lamp. It knows ${process.env.LAMP_COLOR ?? "no color"}.`,
    inputSchema: { type: "object", properties: {} },
  },
];

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "lamp", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) {
    const answer = answers[method];
    const content = answer ? { result: answer(params) } : { error: { code: -32601, message: `no method ${method}` } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...content })}\n`);
  }
}
