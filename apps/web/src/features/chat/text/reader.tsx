import { Children, isValidElement, type ReactElement, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import { t } from "../../../i18n/chat";
import { FilesContext, useFiles } from "../context/files-context";
import { CodeBlock } from "./CodeBlock";
import { FileLink, InlineCode } from "./FileLink";
import { filePlace } from "./file-place";
import { gfm } from "./gfm";

const plugins = [gfm];

// A model's text is untrusted: no HTML (react-markdown shows it as text), no script or data addresses (its default
// filter), and nothing is fetched from elsewhere, because the address of a picture can leak data.
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling boxes must be reachable by keyboard
    <div className="md-table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

/** A link to another site, or to a file of the project. */
function Anchor({ href, children }: { href: string; children: ReactNode }) {
  const files = useFiles();
  const place = files ? filePlace(decoded(href), files.folder) : null;
  // Code within a link must not become another link.
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

/** A cache of the last parsed pieces, by text. Parsing is most of the cost of a message. */
const read = new Map<string, ReactElement>();
const mostRead = 200;

/**
 * Parses a piece of Markdown. It is loaded after the first rows are visible, because it is a fifth of their download.
 */
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
