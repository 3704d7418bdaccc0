import { type ESTree, parseSync, Visitor } from "vite";

/** A call that looks up a message: t("id", { value }). */
export interface Lookup {
  /** null if it is not a literal. */
  id: string | null;
  /** The names of its values; null if they are not an object literal. */
  values: string[] | null;
}

/** The texts that a file shows to people. */
export interface Texts {
  /** Texts in the file itself: contents of elements, arguments that are shown, and strings that look like words. */
  literals: string[];
  lookups: Lookup[];
  /** The messages that are looked up when the file is loaded, which is before the language is known. */
  early: string[];
}

/** Attributes of elements, fields of objects, and functions with strings that people read, including single words. */
const readAttributes = new Set(["aria-label", "title", "placeholder", "alt", "label", "hint", "confirm", "subtitle"]);
const readFields = new Set(["title", "label", "hint", "placeholder", "reason", "advice", "message", "detail", "word"]);
const readCalls = new Set(["toast", "setError", "useTitle"]);

/** Finds the texts that a file shows, in its syntax tree. */
export function textsOf(file: string, source: string): Texts {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) {
    throw new Error(`${file}: ${errors[0]?.message}`);
  }
  const literals: string[] = [];
  const lookups: Lookup[] = [];
  const found = new Set<number>();
  const calls: [at: number, id: string][] = [];
  const later: [start: number, end: number][] = [];
  const runsLater = ({ start, end }: { start: number; end: number }) => void later.push([start, end]);
  const classes: [start: number, end: number][] = [];
  const add = ({ start, text }: Found) => {
    if (!found.has(start) && !classes.some(([from, to]) => from < start && start < to)) {
      found.add(start);
      literals.push(text);
    }
  };
  const shown = (node: ESTree.Expression | ESTree.JSXEmptyExpression) =>
    stringsOf(node)
      .filter(({ text }) => isText(text))
      .forEach(add);
  const child = (node: ESTree.JSXChild) => {
    if (node.type === "JSXText" && isText(node.value)) {
      add({ start: node.start, text: node.value.trim() });
    } else if (node.type === "JSXExpressionContainer") {
      shown(node.expression);
    }
  };
  new Visitor({
    ArrowFunctionExpression: runsLater,
    FunctionDeclaration: runsLater,
    FunctionExpression: runsLater,
    PropertyDefinition: runsLater,
    // biome-ignore lint/correctness/noComponentHookFactories: these are names of syntax nodes
    JSXElement: ({ children }) => children.forEach(child),
    // biome-ignore lint/correctness/noComponentHookFactories: these are names of syntax nodes
    JSXFragment: ({ children }) => children.forEach(child),
    JSXAttribute({ name, value, start, end }) {
      if (name.name === "className") {
        classes.push([start, end]);
      }
      if (name.type !== "JSXIdentifier" || !readAttributes.has(name.name)) {
        return;
      }
      if (value?.type === "Literal") {
        shown(value);
      } else if (value?.type === "JSXExpressionContainer") {
        shown(value.expression);
      }
    },
    Property({ key, value }) {
      if (key.type === "Identifier" && readFields.has(key.name)) {
        shown(value as ESTree.Expression);
      }
    },
    Literal({ start, value }) {
      if (typeof value === "string" && isWords(value)) {
        add({ start, text: value });
      }
    },
    TemplateElement({ start, value }) {
      if (isWords(value.cooked ?? "")) {
        add({ start, text: value.cooked ?? "" });
      }
    },
    CallExpression({ callee, arguments: [id, values], start, end }) {
      if (callee.type === "Identifier" && callee.name === "cx") {
        classes.push([start, end]);
      }
      if (callee.type === "Identifier" && readCalls.has(callee.name) && id && id.type !== "SpreadElement") {
        shown(id);
      }
      if (callee.type === "Identifier" && callee.name === "t") {
        const name = id?.type === "Literal" && typeof id.value === "string" ? id.value : null;
        lookups.push({ id: name, values: values ? namesOf(values) : [] });
        calls.push([start, name ?? "?"]);
      }
    },
  }).visit(program);
  const early = calls.filter(([at]) => !later.some(([from, to]) => from < at && at < to)).map(([, id]) => id);
  return { literals, lookups, early };
}

function isText(text: string): boolean {
  return /\p{L}{2}/u.test(text);
}

/**
 * Reports whether a string looks like words wherever it is used: it has two or more of them, and more words than other
 * tokens. Most class names contain a hyphen, a bracket or a colon.
 */
function isWords(text: string): boolean {
  const parts = text.trim().split(/\s+/);
  const words = parts.filter((part) => /^[“"'(]?\p{L}[\p{L}’']*[.,:;!?)”"']*$/u.test(part));
  return isText(text) && words.length >= 2 && words.length > parts.length / 2;
}

interface Found {
  start: number;
  text: string;
}

/** Returns the strings that an expression can evaluate to, without those that it compares or passes to a function. */
function stringsOf(node: ESTree.Expression | ESTree.JSXEmptyExpression): Found[] {
  switch (node.type) {
    case "Literal":
      return typeof node.value === "string" ? [{ start: node.start, text: node.value }] : [];
    case "TemplateLiteral":
      return [
        ...node.quasis.map(({ start, value }) => ({ start, text: value.cooked ?? "" })),
        ...node.expressions.flatMap(stringsOf),
      ];
    case "ConditionalExpression":
      return [...stringsOf(node.consequent), ...stringsOf(node.alternate)];
    case "LogicalExpression":
      return [...stringsOf(node.left), ...stringsOf(node.right)];
    case "BinaryExpression":
      return node.operator === "+" ? [...stringsOf(node.left), ...stringsOf(node.right)] : [];
    default:
      return [];
  }
}

function namesOf(node: ESTree.Argument): string[] | null {
  if (node.type !== "ObjectExpression") {
    return null;
  }
  return node.properties.map((property) =>
    property.type === "Property" && property.key.type === "Identifier" ? property.key.name : "?",
  );
}
