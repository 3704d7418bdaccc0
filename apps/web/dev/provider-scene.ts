import { unbroken } from "./texts";
import { dev, type Scene, world } from "./world";

/** A machine whose providers and models can be changed. */
export function providers(): Scene {
  const scorel = world();
  const { handlers } = scorel.host(dev);
  handlers.list_providers = () => ({
    providers: [
      {
        name: "anthropic",
        type: "anthropic",
        address: "api.anthropic.com",
        models: ["opus", "sonnet"],
        keyName: "ANTHROPIC_API_KEY",
        keySource: "system",
        source: "config.toml",
      },
      {
        name: "ollama",
        type: "openai",
        address: "127.0.0.1:11434",
        models: ["llama3.2"],
        keyName: "SCOREL_PROVIDER_A",
        source: "models.json",
        baseUrl: "http://127.0.0.1:11434/v1",
        version: "1",
      },
    ],
    savedModels: [
      { name: "llama3.2", version: "1", model: { provider: "ollama", id: "llama3.2", contextWindow: 131072 } },
      {
        name: "sonnet",
        version: "1",
        model: { provider: "ollama", id: unbroken.slice(0, 60) },
        problem: "config.toml has a model with this name, which is used instead.",
      },
    ],
    defaultModel: "llama3.2",
    defaultSource: "models.json",
  });
  handlers.test_model = ({ name }) =>
    name === "opus"
      ? {
          ok: false,
          reason: "key_refused",
          problem: "Model opus at https://api.anthropic.com rejected the key (HTTP 401).",
          ms: 80,
        }
      : { ok: true, ms: 412 };
  return { scorel, path: `/d/${dev}` };
}
