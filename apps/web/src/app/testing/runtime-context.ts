import type { RuntimeContext } from "../../api/types";

/** The context of a model, with something of every kind. */
export const runtimeContext: RuntimeContext = {
  model: { name: "main", provider: "local", id: "qwen3-coder", contextWindow: 128_000 },
  thinking: "medium",
  cwd: "/home/ada/src/scorel",
  system: [
    { name: "", text: "You are scorel, a coding agent. You work on the user's own machine.", tokens: 1210 },
    { name: "Environment", text: "Linux, bash, git branch main, 3 changed files.", tokens: 96 },
    { name: "Instructions", text: "AGENTS.md\n\nRun `make check` before you commit.", tokens: 2280 },
    { name: "Skills", text: "- pdf: reads and fills in PDF forms\n- release: cuts a release", tokens: 310 },
  ],
  tools: [
    { name: "bash", description: "Runs a command in the project's folder.", parameters: {}, tokens: 420 },
    { name: "read_file", description: "Reads a file, or a part of it.", parameters: {}, tokens: 280 },
    { name: "patch", description: "Changes files by replacing text.", parameters: {}, tokens: 510 },
  ],
  messages: [
    { role: "user", content: [{ type: "text", text: "Run the tests again, please." }], tokens: 9 },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I run them." },
        { type: "toolCall", id: "c1", name: "bash", arguments: { command: "go test ./..." } },
      ],
      tokens: 41,
    },
    {
      role: "toolResult",
      toolCallId: "c1",
      toolName: "bash",
      content: [{ type: "text", text: "ok  \tapps/relay\t2.1s" }],
      tokens: 2310,
    },
    { role: "assistant", content: [{ type: "text", text: "All of them pass." }], tokens: 12 },
  ],
  omitted: 12,
  tokens: 31_400,
  contextWindow: 128_000,
};
