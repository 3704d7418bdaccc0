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
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), gfmFromMarkdown().map(whereThereAreLinks)];
}

type Extension = ReturnType<typeof gfmFromMarkdown>[number];
type Tree = Parameters<NonNullable<Extension["transforms"]>[number]>[0];

/** Bare links are looked for with expressions that a slow phone takes a tenth of a second to prepare. */
function whereThereAreLinks(extension: Extension): Extension {
  const { transforms } = extension;
  return transforms
    ? { ...extension, transforms: transforms.map((each) => (tree) => (mayLink(tree) ? each(tree) : undefined)) }
    : extension;
}

function mayLink(node: Tree | Tree["children"][number]): boolean {
  return "children" in node ? node.children.some(mayLink) : "value" in node && /@|:\/\/|www\./i.test(node.value);
}
