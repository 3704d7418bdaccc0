import { type ReactNode, useId } from "react";
import { number } from "../../i18n/i18n";

export interface SectionProps {
  title: string;
  count: number;
  action?: ReactNode;
  testId: string;
  children: ReactNode;
}

/** A section of the inbox with its heading; renders nothing if it is empty. */
export function Section({ title, count, action, testId, children }: SectionProps) {
  const id = useId();
  if (count === 0) {
    return null;
  }
  return (
    <section data-testid={testId} aria-labelledby={id}>
      <div className="flex min-h-9 items-center gap-2 px-1">
        <h2 id={id} className="font-semibold text-sm">
          {title} <span className="caption pl-1 font-normal text-faint">{number(count)}</span>
        </h2>
        <span className="flex-1" />
        {action}
      </div>
      {children}
    </section>
  );
}
