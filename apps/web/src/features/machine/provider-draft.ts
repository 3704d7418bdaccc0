import type { ModelDraft } from "../../api/types";

/** What the form of a new provider begins with. */
export interface Preset {
  /** Also the name of the provider, unless it is taken. */
  id: string;
  label: string;
  type: string;
  /** "" is the address of the type. */
  url: string;
  /** The id of a model, as an example. */
  model: string;
}

export const presets: readonly Preset[] = [
  { id: "anthropic", label: "Anthropic", type: "anthropic", url: "", model: "claude-sonnet-4-5" },
  { id: "openai", label: "OpenAI", type: "openai-responses", url: "", model: "gpt-5" },
  { id: "gemini", label: "Gemini", type: "google", url: "", model: "gemini-2.5-pro" },
  { id: "ollama", label: "Ollama", type: "openai", url: "http://127.0.0.1:11434/v1", model: "llama3.2" },
  {
    id: "openrouter",
    label: "OpenRouter",
    type: "openai",
    url: "https://openrouter.ai/api/v1",
    model: "qwen/qwen3-coder",
  },
];

/** The protocols of providers, with the address that is used if none is given. */
export const protocols: readonly { value: string; label: string; url: string }[] = [
  { value: "openai", label: "OpenAI chat completions", url: "https://api.openai.com/v1" },
  { value: "openai-responses", label: "OpenAI responses", url: "https://api.openai.com/v1" },
  { value: "anthropic", label: "Anthropic messages", url: "https://api.anthropic.com" },
  { value: "google", label: "Gemini", url: "https://generativelanguage.googleapis.com/v1beta" },
];

/** Returns a name of the letters that the host accepts, which is not taken. */
export function freeName(text: string, taken: readonly string[]): string {
  const name = text.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  for (let n = 1; ; n++) {
    const end = n === 1 ? "" : `-${n}`;
    const free = name.slice(0, 64 - end.length) + end;
    if (!taken.includes(free)) {
      return free;
    }
  }
}

/** Returns the name of a new model: that of its provider for an id without letters that a name may have. */
export function modelName(id: string, provider: string, taken: readonly string[]): string {
  return freeName(id.trim(), taken) || freeName(provider, taken);
}

/** Returns the name that a preset gives a new provider. */
export function nameOf(preset: Preset | null, taken: readonly string[]): string {
  return preset ? freeName(preset.id, taken) : "";
}

/** Returns the address that requests go to. */
export function addressOf(type: string, url: string): string {
  return url.trim() || (protocols.find(({ value }) => value === type)?.url ?? "");
}

/** Returns the text of the next preset, unless a person typed another one than that of the preset before. */
export function replaced(text: string, before: string, next: string): string {
  return text.trim() === "" || text === before ? next : text;
}

/** The fields of a model as they are typed. */
export interface ModelFields {
  id: string;
  contextWindow: string;
  priceInput: string;
  priceOutput: string;
  /** Whether it accepts images; "" leaves it to the host. */
  images: "" | "yes" | "no";
}

export function modelFields(model: ModelDraft | null): ModelFields {
  const text = (n?: number) => (n ? String(n) : "");
  return {
    id: model?.id ?? "",
    contextWindow: text(model?.contextWindow),
    priceInput: text(model?.priceInput),
    priceOutput: text(model?.priceOutput),
    images: model?.images === undefined ? "" : model.images ? "yes" : "no",
  };
}

/** Reports whether a text is empty or a number that is not negative, and a whole one if asked for. */
export function isAmount(text: string, whole = false): boolean {
  const n = Number(text);
  return n >= 0 && (whole ? Number.isSafeInteger(n) : Number.isFinite(n));
}

/** Reports whether the fields can be sent. */
export function modelReady({ id, contextWindow, priceInput, priceOutput }: ModelFields): boolean {
  return id.trim() !== "" && isAmount(contextWindow, true) && [priceInput, priceOutput].every((text) => isAmount(text));
}

/** Returns the model that is sent. What the form does not show stays as it was. */
export function modelDraft(provider: string, before: ModelDraft | null, fields: ModelFields): ModelDraft {
  const { images: _, ...kept } = before ?? {};
  return {
    ...kept,
    ...(fields.images ? { images: fields.images === "yes" } : {}),
    provider,
    id: fields.id.trim(),
    contextWindow: Number(fields.contextWindow),
    priceInput: Number(fields.priceInput),
    priceOutput: Number(fields.priceOutput),
  };
}
