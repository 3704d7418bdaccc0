// @vitest-environment node
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { compileMessageOrThrow } from "@lingui/message-utils/compileMessage";
import { describe, expect, it } from "vitest";
import english from "../api/doctor-words.json";
import chinese from "../api/doctor-words.zh.json";
import { textsOf } from "./testing/texts";

const src = join(import.meta.dirname, "..");

/** Strings that look like texts, and why they stay in the code. */
const notTranslated: Record<string, string> = {
  "Claude Code": "the name of a program",
  Codex: "the name of a program",
  "Gemini CLI": "the name of a program",
  opencode: "the name of a program",
  Anthropic: "the name of a provider",
  OpenAI: "the name of a provider",
  Gemini: "the name of a provider",
  Ollama: "the name of a provider",
  OpenRouter: "the name of a provider",
  "OpenAI chat completions": "the name of an API",
  "OpenAI responses": "the name of an API",
  "Anthropic messages": "the name of an API",
  scorel: "a name",
  "scorel host serve": "a command",
  "scorel host serve --relay ": "a command",
  "scorel pair": "a command",
  "scorel pair ": "a command",
  "scorel pair --label NAME": "a command",
  "scorel backend login ": "a command",
  "[backends.": "a part of config.toml",
  "]\nasks = true": "a part of config.toml",
  'permissions.remote_mode = "bypass"': "a setting of config.toml",
  "scorel host clients grant ": "a command",
  "scorel host clients limit ": "a command",
  "build-commands": "what a name looks like",
  "7K3M-9QXR-2BTD": "what a code looks like",
  allowed_origins: "a setting",
  closed: "a reason of the protocol",
  "noopener noreferrer": "for the browser",
  "(pointer: coarse)": "for the browser",
  "Attached file: ": "a part of a prompt, for models",
  "message of ": "an entry of a kind that no host sends",
  "bad relay address: ": "never shown: the page says what is wrong",
  "useScorel needs a ScorelContext above it": "a mistake in the code",
  "There is no log here.": "a mistake in the code",
  "There are no images here.": "a mistake in the code",
  "sealed: more was acknowledged than was sent": "a mistake of the other side, never shown",
  // Shown as the cause in a sentence of the catalog, for debugging.
  "the browser's database gave up a transaction": "a fault of the browser",
  "highlighting failed": "never shown: the code stays plain",
  "the highlighter was lost": "never shown: the code stays plain",
  "a second hello": "a fault of the relay",
  "a welcome that is not ours": "a fault of the relay",
  "data before the login": "a fault of the relay",
};

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$|(^|\/)testing\//.test(name))
    .map((name) => join(folder, name));
}

function catalogsOf(language: string) {
  return readdirSync(join(import.meta.dirname, language)).map((name) => ({
    area: basename(name, ".json"),
    messages: JSON.parse(readFileSync(join(import.meta.dirname, language, name), "utf8")) as Record<string, string>,
  }));
}

const catalogs = catalogsOf("en");
const messages = Object.assign({}, ...catalogs.map((each) => each.messages)) as Record<string, string>;
const read = (file: string) => textsOf(file, readFileSync(file, "utf8"));
const lookups = filesBelow(src).flatMap((file) =>
  read(file).lookups.map((each) => ({ ...each, file: relative(src, file) })),
);

/**
 * Returns the placeholders of a message, including those within its plurals. Throws for syntax that `format` does not
 * support.
 */
function placeholdersOf(message: string): string[] {
  const names = new Set<string>();
  const walk = (part: unknown): void => {
    if (!Array.isArray(part)) {
      return;
    }
    for (const each of part) {
      if (each === "#" || (Array.isArray(each) && (each[1] ?? "plural") !== "plural")) {
        throw new Error(`only {name} and {name, plural, ...} can be in "${message}"`);
      }
      if (Array.isArray(each)) {
        names.add(String(each[0]));
        Object.values(each[2] ?? {}).forEach(walk);
      }
    }
  };
  walk(compileMessageOrThrow(message));
  return [...names].sort();
}

describe("the message catalog", () => {
  it("has all texts of the page", () => {
    const texts = filesBelow(src).flatMap((file) => read(file).literals.map((text) => ({ file, text })));
    const own = texts.filter(({ text }) => !(text in notTranslated));
    expect(own.map(({ file, text }) => `${relative(src, file)}: ${text}`)).toEqual([]);
    const used = new Set(texts.map(({ text }) => text));
    expect(Object.keys(notTranslated).filter((text) => !used.has(text))).toEqual([]);
  });

  it("has every message that the code looks up, with the values that it needs", () => {
    expect(lookups.length).toBeGreaterThan(200);
    const wrong = lookups.filter(({ id, values }) => {
      const message = id === null ? undefined : messages[id];
      return message === undefined || (values && values.sort().join() !== placeholdersOf(message).join());
    });
    expect(wrong).toEqual([]);
  });

  it("looks messages up when they are shown, once the language is known", () => {
    expect(filesBelow(src).flatMap((file) => read(file).early)).toEqual([]);
  });

  it("has no unused message", () => {
    const used = new Set(lookups.map(({ id }) => id));
    expect(Object.keys(messages).filter((id) => !used.has(id))).toEqual([]);
  });

  it.each(catalogs)("keeps the ids of $area sorted and prefixed with its name", ({ area, messages }) => {
    const ids = Object.keys(messages);
    expect(ids).toEqual(ids.toSorted());
    expect(ids.filter((id) => !id.startsWith(`${area}.`))).toEqual([]);
  });
});

describe("the Chinese catalog", () => {
  const translated = catalogsOf("zh");

  it("has every message once, in the order of the English ones", () => {
    const ids = (all: typeof catalogs) => all.map((each) => [each.area, Object.keys(each.messages)]);
    expect(ids(translated)).toEqual(ids(catalogs));
  });

  it("has the values of every message", () => {
    const wrong = translated.flatMap(({ messages: chinese }) =>
      Object.entries(chinese).filter(([id, text]) => {
        const values = placeholdersOf(messages[id] ?? "");
        return text.trim() === "" || values.join() !== placeholdersOf(text).join();
      }),
    );
    expect(wrong).toEqual([]);
  });

  it("has the names and hints of a diagnosis, with their commands", () => {
    const commands = (words: typeof english) =>
      Object.entries({ ...words.steps, ...words.hints }).map(([key, text]) => [key, text.match(/`[^`]+`/g)]);
    expect(commands(chinese)).toEqual(commands(english));
  });
});

describe("the names of buttons", () => {
  // Who speaks to the device says what is on the button. The id of a name is that of the text and one of these words.
  const suffix = /(Named|One|Of|To)$/;

  it.each(["en", "zh"])("contain their text in %s", (language) => {
    const all = Object.assign({}, ...catalogsOf(language).map(({ messages }) => messages)) as Record<string, string>;
    const pairs = Object.entries(all).flatMap(([id, name]) => {
      const text = suffix.test(id) ? all[id.replace(suffix, "")] : undefined;
      return text === undefined ? [] : [{ text: text.replace("…", ""), name }];
    });
    expect(pairs.length).toBeGreaterThan(20);
    expect(pairs.filter(({ text, name }) => !name.toLowerCase().includes(text.toLowerCase()))).toEqual([]);
  });
});

describe("the message parser", () => {
  it.each(["{n, plural, one {# line} other {# lines}}", "{at, date}", "{kind, select, a {A} other {B}}"])(
    "rejects %s",
    (message) => {
      expect(() => placeholdersOf(message)).toThrow("only {name}");
    },
  );
});

describe("the text finder", () => {
  it.each<[string, string[]]>([
    ["<p>Hello</p>", ["Hello"]],
    ["<>Hello {name}</>", ["Hello"]],
    ['<p>{busy ? "Working" : null}</p>', ["Working"]],
    ["<p>{`exit $" + "{code}`}</p>", ["exit "]],
    ['<p>{name ?? "nobody"}</p>', ["nobody"]],
    ['<img alt="A lamp" />', ["A lamp"]],
    ['<Button label={"Send" + key} />', ["Send"]],
    ['<p className="text-sm" data-testid="row">{t("chat.a")} · {3}</p>', []],
    ['<p>{state === "open" ? t("chat.a") : format("full")}</p>', []],
    ['<p className={cx("relative block", wide && "touchable")} />', []],
    ['toast("Saved")', ["Saved"]],
    ['toast(t("chat.a"))', []],
    ['{ title: "Saved", name: "saved", error: null }', ["Saved"]],
    ['{ detail: late ? "late" : "after" + time }', ["late", "after"]],
    ['new Error("Try again.")', ["Try again."]],
    ['why ?? "The host gave no reason."', ["The host gave no reason."]],
    ["[`$" + "{name} is offline`]", [" is offline"]],
    ['request("list_sessions", { key: "Enter", media: "(min-width: 768px)", path: "/d/$id" })', []],
  ])("finds the literals of %s", (code, literals) => {
    expect(textsOf("a.tsx", `const a = ${code};`).literals).toEqual(literals);
  });

  it.each([
    ['const label = t("a.b");', ["a.b"]],
    ['const labels = { open: t("a.b"), more: [t("a.c")] };', ["a.b", "a.c"]],
    ['const label = () => t("a.b"); function name() { return t("a.c"); }', []],
    ['class Run { label = t("a.b"); end() { t("a.c"); } }', []],
  ])("finds messages that are looked up too early in %s", (code, early) => {
    expect(textsOf("a.ts", code).early).toEqual(early);
  });

  it("finds the messages that are looked up", () => {
    expect(textsOf("a.ts", 't("a.b", { name, n: 1 }); t(id); t("a.c", values)').lookups).toEqual([
      { id: "a.b", values: ["name", "n"] },
      { id: null, values: [] },
      { id: "a.c", values: null },
    ]);
  });
});
