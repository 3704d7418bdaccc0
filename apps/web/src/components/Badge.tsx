import type { ReactNode } from "react";
import { cx } from "./cx";

export type Tone = "neutral" | "accent" | "warn" | "danger";

const tones: Record<Tone, string> = {
  neutral: "border-line text-muted bg-surface",
  accent: "border-accent/25 bg-accent-soft text-accent",
  warn: "border-warn-line/60 bg-warn-soft text-warn",
  danger: "border-danger-line/60 bg-danger-soft text-danger",
};

export interface BadgeProps {
  tone?: Tone;
  /** A pulsing dot, for activity. */
  live?: boolean;
  children: ReactNode;
}

export function Badge({ tone = "neutral", live = false, children }: BadgeProps) {
  return (
    <span
      className={cx("caption inline-flex shrink-0 items-center gap-1.5 rounded-sm border px-1.5 py-0.5", tones[tone])}
    >
      {live ? <Dot tone={tone} live /> : null}
      {children}
    </span>
  );
}

const dots: Record<Tone, string> = {
  neutral: "bg-line-strong",
  accent: "bg-accent",
  warn: "bg-warn-line",
  danger: "bg-danger",
};

/** A status dot. The text beside it says the same. */
export function Dot({ tone = "neutral", live = false }: { tone?: Tone; live?: boolean }) {
  return (
    <span
      aria-hidden="true"
      className={cx("inline-block size-2 shrink-0 rounded-full", dots[tone], live && "pulse-dot")}
    />
  );
}
