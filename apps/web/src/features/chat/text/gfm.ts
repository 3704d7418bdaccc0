import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm as gfmSyntax } from "micromark-extension-gfm";

/** The part of unified's processor that a parser plugin changes. */
interface Parser {
  data(): { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] };
}

/**
 * Extends the parser with tables, task lists, strikethrough, footnotes and bare links. remark-gfm does the same but
 * also contains the Markdown serializer, which the page never uses: a tenth of the download for a session.
 */
export function gfm(this: unknown): void {
  const data = (this as Parser).data();
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), gfmSyntax()];
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), gfmFromMarkdown().map(whereThereAreLinks)];
}

type Extension = ReturnType<typeof gfmFromMarkdown>[number];
type Tree = Parameters<NonNullable<Extension["transforms"]>[number]>[0];

/**
 * Parses bare links only in texts that may contain one: a slow phone takes a tenth of a second to compile the
 * expressions.
 */
function whereThereAreLinks(extension: Extension): Extension {
  const { transforms } = extension;
  return transforms
    ? { ...extension, transforms: transforms.map((each) => (tree) => (mayLink(tree) ? each(tree) : undefined)) }
    : extension;
}

function mayLink(node: Tree | Tree["children"][number]): boolean {
  return "children" in node ? node.children.some(mayLink) : "value" in node && /@|:\/\/|www\./i.test(node.value);
}
