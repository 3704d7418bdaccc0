/** A command that wraps between words only, or within a word that is wider than its box. */
export function CommandText({ command, ...rest }: { command: string; "data-testid"?: string }) {
  return (
    <code className="min-w-0 flex-1 py-1.5 font-mono text-sm" {...rest}>
      {command.split(" ").flatMap((word, i) => [
        i > 0 ? " " : "",
        // biome-ignore lint/suspicious/noArrayIndexKey: words of a command have no other key, and never move
        <span key={i} className="inline-block max-w-full [overflow-wrap:anywhere]">
          {word}
        </span>,
      ])}
    </code>
  );
}
