import type { ReactNode } from "react";

export interface SectionProps {
  title: string;
  /** Why something here did not work; null when it did. */
  error: string | null;
  children: ReactNode;
}

export function Section({ title, error, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <h3 className="font-medium text-sm">{title}</h3>
      {children}
      {error ? (
        <p role="alert" className="mt-2 text-danger text-sm">
          {error}
        </p>
      ) : null}
    </section>
  );
}
