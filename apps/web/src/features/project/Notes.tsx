/** The host's notes about files that it skipped or that are unusual. */
export function Notes({ notes, testId }: { notes: readonly string[] | undefined; testId: string }) {
  if (!notes?.length) {
    return null;
  }
  return (
    <ul data-testid={testId} className="mt-2 space-y-1 text-sm text-warn">
      {notes.map((note) => (
        <li key={note} className="break-words [overflow-wrap:anywhere]">
          {note}
        </li>
      ))}
    </ul>
  );
}
