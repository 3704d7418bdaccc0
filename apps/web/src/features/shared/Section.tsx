import { type ReactNode, useEffect, useRef } from "react";
import { ErrorText } from "../../components/ErrorText";
import { focusIsLost } from "./lost-focus";

export interface SectionProps {
  title: string;
  /** Why an action here failed; null if it did not. */
  error: ReactNode;
  /** The last completed action, for screen readers; null during an action. */
  done?: string | null;
  children: ReactNode;
}

/** A section of a settings page. It announces completed actions, and takes the focus of elements that they remove. */
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
      <ErrorText className="mt-2">{error}</ErrorText>
    </section>
  );
}
