import { Component, memo, type ReactNode, useContext, useState } from "react";
import { cx } from "../../../components/cx";
import { CodeBlock } from "./CodeBlock";
import { lateReader, type Reader, ReaderContext } from "./late-reader";
import { mustStayPlain } from "./plain-markdown";
import { isParagraph } from "./plain-paragraph";
import { codeOf, GrowingSplitter, standsInPieces } from "./split-markdown";

export interface MarkdownProps {
  text: string;
  /** Whether more text follows. */
  grows?: boolean;
}

/** The Markdown of a message. Pieces parsed while it streamed are not parsed again, and their elements stay. */
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

interface PieceProps {
  text: string;
  grows: boolean;
}

const Piece = memo(function Piece({ text, grows }: PieceProps) {
  const read = useContext(ReaderContext) ?? lateReader.now();
  const code = codeOf(text);
  if (code) {
    return <CodeBlock {...code} />;
  }
  return (
    <Caught text={text}>
      <Body text={text} grows={grows} read={read} />
    </Caught>
  );
});

/**
 * A paragraph of plain text needs no parser. It has the key of the parsed element, so that it stays if it grows beyond
 * that.
 */
function Body({ text, grows, read }: PieceProps & { read: Reader | null }) {
  if (isParagraph(text)) {
    return <p key="p-0">{text.trimEnd()}</p>;
  }
  if (mustStayPlain(text)) {
    return <Plain text={text} />;
  }
  return read ? read(text, grows) : <Plain text={text.trimEnd()} />;
}

function Plain({ text }: { text: string }) {
  return <p className="break-words whitespace-pre-wrap">{text}</p>;
}

/** Shows a text as written if parsing it as Markdown fails, so that the page keeps working. */
class Caught extends Component<{ text: string; children: ReactNode }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? <Plain text={this.props.text} /> : this.props.children;
  }
}
