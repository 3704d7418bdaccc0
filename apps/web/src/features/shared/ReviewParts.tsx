import type { ReactNode } from "react";

/** A list of the parts of something that a person reviews. */
export function Parts({ children }: { children: ReactNode }) {
  return <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1">{children}</dl>;
}

export function Part({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{name}</dt>
      <dd className="break-all font-mono text-xs leading-5">{children}</dd>
    </>
  );
}

export function Lines({ lines }: { lines: string[] }) {
  return (
    <ul>
      {lines.map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a configuration never move
        <li key={i} className="whitespace-pre-wrap">
          {line}
        </li>
      ))}
    </ul>
  );
}
