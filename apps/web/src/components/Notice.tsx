import type { HTMLAttributes, ReactNode } from "react";
import { Card, type CardTone } from "./Card";
import { cx } from "./cx";

export interface NoticeProps extends Omit<HTMLAttributes<HTMLDivElement>, "title"> {
  tone?: CardTone;
  icon?: ReactNode;
  title: ReactNode;
  /** Buttons for what can be done. */
  actions?: ReactNode;
}

const tones: Record<CardTone, string> = {
  plain: "text-muted",
  accent: "text-accent",
  warn: "text-warn",
  danger: "text-danger",
};

/** A message to the reader: a title, a sentence, and actions. */
export function Notice({ tone = "plain", icon, title, actions, children, className, ...rest }: NoticeProps) {
  return (
    <Card tone={tone} className={cx("flex items-start gap-3 p-3.5", className)} {...rest}>
      {icon ? <span className={cx("mt-0.5 shrink-0", tones[tone])}>{icon}</span> : null}
      <div className="min-w-0 flex-1">
        <p className="font-medium">{title}</p>
        {children ? <div className="mt-0.5 break-words text-muted text-sm">{children}</div> : null}
        {actions ? <div className="mt-3 flex flex-wrap gap-2">{actions}</div> : null}
      </div>
    </Card>
  );
}

export interface EmptyStateProps {
  icon: ReactNode;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** A message for an empty list, with the next step. */
export function EmptyState({ icon, title, children, actions }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center">
      <span className="mb-4 grid size-12 place-items-center rounded-lg border border-line bg-surface text-faint text-xl">
        {icon}
      </span>
      <h2 className="font-semibold text-base">{title}</h2>
      {children ? <p className="mt-1.5 max-w-sm text-muted text-sm">{children}</p> : null}
      {actions ? <div className="mt-5 flex flex-wrap justify-center gap-2">{actions}</div> : null}
    </div>
  );
}
