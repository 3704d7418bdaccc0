import type { HTMLAttributes, Ref } from "react";
import { cx } from "./cx";

export type CardTone = "plain" | "accent" | "warn" | "danger";

const tones: Record<CardTone, string> = {
  plain: "border-line bg-surface",
  // Opaque, because sticky content at its edges hides what is below.
  accent: "border-accent/40 bg-[color-mix(in_srgb,var(--c-accent-soft)_50%,var(--c-bg))]",
  warn: "border-warn-line bg-warn-soft",
  danger: "border-danger-line bg-danger-soft",
};

export interface CardProps extends HTMLAttributes<HTMLDivElement> {
  tone?: CardTone;
  ref?: Ref<HTMLDivElement>;
}

export function Card({ tone = "plain", className, ...rest }: CardProps) {
  return <div className={cx("rounded-lg border", tones[tone], className)} {...rest} />;
}
