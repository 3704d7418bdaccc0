// The highlighter. It returns the kind of each token as a class, because the page's policy allows no inline style; the
// colors are in the style sheet. It runs in its own worker.
import {
  createCssVariablesTheme,
  createHighlighterCore,
  type GrammarState,
  type HighlighterCore,
  type LanguageInput,
} from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import type { Coloring, Run, Token } from "./engine";

const grammars: Record<string, () => Promise<{ default: LanguageInput }>> = {
  bash: () => import("@shikijs/langs/bash"),
  c: () => import("@shikijs/langs/c"),
  cpp: () => import("@shikijs/langs/cpp"),
  csharp: () => import("@shikijs/langs/csharp"),
  css: () => import("@shikijs/langs/css"),
  dart: () => import("@shikijs/langs/dart"),
  diff: () => import("@shikijs/langs/diff"),
  docker: () => import("@shikijs/langs/docker"),
  elixir: () => import("@shikijs/langs/elixir"),
  go: () => import("@shikijs/langs/go"),
  graphql: () => import("@shikijs/langs/graphql"),
  haskell: () => import("@shikijs/langs/haskell"),
  hcl: () => import("@shikijs/langs/hcl"),
  html: () => import("@shikijs/langs/html"),
  ini: () => import("@shikijs/langs/ini"),
  java: () => import("@shikijs/langs/java"),
  javascript: () => import("@shikijs/langs/javascript"),
  json: () => import("@shikijs/langs/json"),
  jsx: () => import("@shikijs/langs/jsx"),
  kotlin: () => import("@shikijs/langs/kotlin"),
  lua: () => import("@shikijs/langs/lua"),
  make: () => import("@shikijs/langs/make"),
  markdown: () => import("@shikijs/langs/markdown"),
  nix: () => import("@shikijs/langs/nix"),
  perl: () => import("@shikijs/langs/perl"),
  php: () => import("@shikijs/langs/php"),
  powershell: () => import("@shikijs/langs/powershell"),
  proto: () => import("@shikijs/langs/proto"),
  python: () => import("@shikijs/langs/python"),
  ruby: () => import("@shikijs/langs/ruby"),
  rust: () => import("@shikijs/langs/rust"),
  scala: () => import("@shikijs/langs/scala"),
  sql: () => import("@shikijs/langs/sql"),
  swift: () => import("@shikijs/langs/swift"),
  toml: () => import("@shikijs/langs/toml"),
  tsx: () => import("@shikijs/langs/tsx"),
  typescript: () => import("@shikijs/langs/typescript"),
  xml: () => import("@shikijs/langs/xml"),
  yaml: () => import("@shikijs/langs/yaml"),
  zig: () => import("@shikijs/langs/zig"),
};

const aliases: Record<string, string> = {
  "c++": "cpp",
  "c#": "csharp",
  cjs: "javascript",
  console: "bash",
  cs: "csharp",
  dockerfile: "docker",
  golang: "go",
  h: "c",
  hpp: "cpp",
  hs: "haskell",
  js: "javascript",
  jsonc: "json",
  kt: "kotlin",
  makefile: "make",
  md: "markdown",
  mjs: "javascript",
  patch: "diff",
  ps1: "powershell",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  shellscript: "bash",
  svg: "xml",
  tf: "hcl",
  ts: "typescript",
  yml: "yaml",
  zsh: "bash",
};

const theme = createCssVariablesTheme({ name: "tokens", variablePrefix: "--tok-", fontStyle: false });
let core: Promise<HighlighterCore> | null = null;

/** Longer lines stay plain. */
const maxLine = 2000;

/**
 * Returns the highlighted lines of a text, and the state of the grammar at its end, from which another text can
 * continue.
 */
type Tokenizer = (code: string, after?: unknown) => { lines: Token[][]; end: unknown };

/** Returns the highlighted lines of a text; null for an unknown language. */
export async function tokenize(code: string, language: string): Promise<Token[][] | null> {
  const tokenizer = await tokenizerFor(language);
  return tokenizer ? tokenizer(code).lines : null;
}

/** How long runs are highlighted before other requests get their turn, in milliseconds. */
const slice = 16;

/** Highlights runs in order. Returns the state after the last one, or undefined for an unknown language. */
export async function colorRuns(runs: readonly Run[], language: string, coloring: Coloring): Promise<unknown> {
  const tokenizer = await tokenizerFor(language);
  if (!tokenizer) {
    return undefined;
  }
  let state = coloring.after;
  let done: Token[][][] = [];
  let from = 0;
  let since = performance.now();
  const hand = () => {
    coloring.onRuns(from, done);
    from += done.length;
    done = [];
  };
  for (const { code, restarts, aside } of runs) {
    const { lines, end } = tokenizer(code, restarts ? undefined : state);
    done.push(lines);
    state = aside ? (restarts ? undefined : state) : end;
    if (performance.now() - since > slice) {
      hand();
      await new Promise((resolve) => setTimeout(resolve));
      since = performance.now();
    }
    if (coloring.signal.aborted) {
      return undefined;
    }
  }
  hand();
  return state;
}

/** Returns null for an unknown language. */
async function tokenizerFor(language: string): Promise<Tokenizer | null> {
  const name = aliases[language.toLowerCase()] ?? language.toLowerCase();
  const grammar = Object.hasOwn(grammars, name) ? grammars[name] : undefined;
  if (!grammar) {
    return null;
  }
  // Creating the engine takes tens of milliseconds; there is one for the page.
  core ??= createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
  const highlighter = await core;
  if (!highlighter.getLoadedLanguages().includes(name)) {
    await highlighter.loadLanguage((await grammar()).default);
  }
  return (code, after) => {
    const { tokens, grammarState } = highlighter.codeToTokens(code, {
      lang: name,
      theme: "tokens",
      tokenizeMaxLineLength: maxLine,
      // An aborted line would leave the grammar in the middle of it: colors would depend on the machine's speed.
      tokenizeTimeLimit: 0,
      ...(after ? { grammarState: after as GrammarState } : {}),
    });
    const lines = tokens.map((line) =>
      line.map(({ content, color }) => ({ text: content, className: classOf(color) })),
    );
    return { lines, end: grammarState };
  };
}

/** Returns "tok-keyword" for "var(--tok-token-keyword)". */
function classOf(color: string | undefined): string | undefined {
  const kind = /--tok-token-([a-z-]+)/.exec(color ?? "")?.[1];
  return kind && `tok-${kind}`;
}
