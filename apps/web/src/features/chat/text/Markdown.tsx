import { Children, Component, isValidElement, memo, type ReactElement, type ReactNode, useState } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import { cx } from "../../../components/cx";
import { t } from "../../../i18n/chat";
import { FilesContext, useFiles } from "../context/files-context";
import { CodeBlock } from "./CodeBlock";
import { FileLink, InlineCode } from "./FileLink";
import { filePlace } from "./file-place";
import { gfm } from "./gfm";
import { mustStayPlain } from "./plain-markdown";
import { codeOf, GrowingSplitter, standsInPieces } from "./split-markdown";

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

export interface MarkdownProps {
  text: string;
  /** More of it comes. */
  grows?: boolean;
}

/** Markdown of a message. What was read while it streamed is not read again, and its elements stay. */
export const Markdown = memo(function Markdown({ text, grows = false }: MarkdownProps) {
  const [splitter] = useState(() => new GrowingSplitter());
  const pieces = grows || standsInPieces(text) ? splitter.split(text) : [text];
  return (
    <div className={cx("md", grows && "md-live")}>
      {pieces.map((piece, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces are only ever appended
        <Piece key={i} text={piece} grows={grows && i === pieces.length - 1} />
      ))}
    </div>
  );
});

const Piece = memo(function Piece({ text, grows }: { text: string; grows: boolean }) {
  const code = codeOf(text);
  if (code) {
    return <CodeBlock {...code} />;
  }
  if (mustStayPlain(text)) {
    return <Plain text={text} />;
  }
  return (
    <Caught text={text}>
      <Read text={text} grows={grows} />
    </Caught>
  );
});

/** The pieces that were read last, by their text. To read is most of what a message costs. */
const read = new Map<string, ReactElement>();
const mostRead = 200;

function Read({ text, grows }: { text: string; grows: boolean }) {
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

function Plain({ text }: { text: string }) {
  return <p className="break-words whitespace-pre-wrap">{text}</p>;
}

/** Shows a text as it was written where reading it as Markdown fails: the page goes on. */
class Caught extends Component<{ text: string; children: ReactNode }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? <Plain text={this.props.text} /> : this.props.children;
  }
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
