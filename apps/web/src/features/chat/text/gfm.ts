import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm as gfmSyntax } from "micromark-extension-gfm";

/** The part of unified's processor that a plugin for a parser changes. */
interface Parser {
  data(): { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] };
}

/**
 * Lets the parser read tables, task lists, strikethrough, footnotes and bare links. remark-gfm does the same
 * and brings the code that writes Markdown, which the page never does: a tenth of what a session loads.
 */
export function gfm(this: unknown): void {
  const data = (this as Parser).data();
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), gfmSyntax()];
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), gfmFromMarkdown()];
}
