import { cx } from "./cx";

/** Why something did not work, announced to a screen reader; nothing without a reason. */
export function ErrorText({ children, className }: { children: string | null; className?: string }) {
  if (!children) {
    return null;
  }
  return (
    <p role="alert" className={cx("break-words text-danger text-sm", className)}>
      {children}
    </p>
  );
}
