import { Children, isValidElement, type ReactElement, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import { t } from "../../../i18n/chat";
import { FilesContext, useFiles } from "../context/files-context";
import { CodeBlock } from "./CodeBlock";
import { FileLink, InlineCode } from "./FileLink";
import { filePlace } from "./file-place";
import { gfm } from "./gfm";

const plugins = [gfm];

// What a model writes is text of a stranger: no HTML (react-markdown shows it as
// text), no script or data addresses (its default filter), and nothing is fetched
// from elsewhere, since a picture's address can carry data out.
const components: Components = {
  a: ({ href, children }) =>
    href?.startsWith("#") || !href ? <span>{children}</span> : <Anchor href={href}>{children}</Anchor>,
  code: InlineCode,
  img: ({ src, alt }) =>
    typeof src === "string" && /^https?:/i.test(src) ? (
      <a href={src} target="_blank" rel="noopener noreferrer" title={src}>
        {t("chat.text.picture", { name: alt || hostOf(src) })}
      </a>
    ) : (
      <span>{t("chat.text.picture", { name: alt || t("chat.text.withoutAName") })}</span>
    ),
  pre: ({ children }) => <FencedCode>{children}</FencedCode>,
  input: ({ checked }) => (
    <input
      type="checkbox"
      disabled
      checked={checked ?? false}
      aria-label={checked ? t("chat.text.done") : t("chat.text.notDone")}
    />
  ),
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard
    <div className="md-table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

/** A link elsewhere, or to a file of the project. */
function Anchor({ href, children }: { href: string; children: ReactNode }) {
  const files = useFiles();
  const place = files ? filePlace(decoded(href), files.folder) : null;
  // Code in a link is no link of its own.
  const text = <FilesContext value={null}>{children}</FilesContext>;
  return place ? (
    <FileLink place={place}>{text}</FileLink>
  ) : (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  );
}

function decoded(href: string): string {
  try {
    return decodeURI(href);
  } catch {
    return href;
  }
}

/** The pieces that were read last, by their text. To read is most of what a message costs. */
const read = new Map<string, ReactElement>();
const mostRead = 200;

/** Reads a piece of Markdown. It is loaded once the first rows are in sight, since it is a fifth of what they need. */
export function readMarkdown(text: string, grows: boolean): ReactElement {
  const known = read.get(text);
  if (known) {
    return known;
  }
  const element = ReactMarkdown({ remarkPlugins: plugins, components, children: text });
  if (!grows) {
    read.set(text, element);
    for (const [oldest] of read) {
      if (read.size <= mostRead) {
        break;
      }
      read.delete(oldest);
    }
  }
  return element;
}

function FencedCode({ children }: { children: ReactNode }) {
  const code = Children.toArray(children).find(isCode);
  if (!code) {
    return <pre>{children}</pre>;
  }
  const language = /language-([\w+#-]+)/.exec(code.props.className ?? "")?.[1] ?? "";
  return <CodeBlock code={textOf(code.props.children).replace(/\n$/, "")} language={language} />;
}

type CodeElement = ReactElement<{ className?: string; children?: ReactNode }>;

function isCode(node: ReactNode): node is CodeElement {
  return isValidElement(node) && node.type === InlineCode;
}

function textOf(node: ReactNode): string {
  return Children.toArray(node)
    .map((child) => (typeof child === "string" ? child : ""))
    .join("");
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
