import { type ReactNode, useEffect, useRef } from "react";
import { focusIsLost } from "../shared/lost-focus";

export interface SectionProps {
  title: string;
  /** Why something here did not work; null when it did. */
  error: string | null;
  /** What was done here last, to be read out; null while something is being done. */
  done?: string | null;
  children: ReactNode;
}

/** A part of a page of settings. It says what was done, and takes the focus of what is gone because of that. */
export function Section({ title, error, done = null, children }: SectionProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (done !== null && focusIsLost(heading.current)) {
      heading.current?.focus();
    }
  }, [done]);
  return (
    <section aria-label={title}>
      <h3 ref={heading} tabIndex={-1} className="font-medium text-sm">
        {title}
      </h3>
      {children}
      <p role="status" className="mt-2 break-words text-accent text-sm empty:mt-0">
        {done}
      </p>
      {error ? (
        <p role="alert" className="mt-2 text-danger text-sm">
          {error}
        </p>
      ) : null}
    </section>
  );
}
