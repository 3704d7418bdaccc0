import { createElement, Fragment, type ReactNode } from "react";

// A character that no message contains; it surrounds the name of a placeholder.
const mark = "\u0000";

/** Returns a message with elements at its placeholders: `text` looks it up with the given values. */
export function rich(
  text: (values: Record<string, string>) => string,
  elements: Readonly<Record<string, ReactNode>>,
): ReactNode {
  const names = Object.keys(elements).map((name) => [name, mark + name + mark]);
  const parts = text(Object.fromEntries(names)).split(mark);
  return createElement(Fragment, null, ...parts.map((part, i) => (i % 2 ? elements[part] : part)));
}
