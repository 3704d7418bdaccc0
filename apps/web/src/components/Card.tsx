import type { HTMLAttributes } from "react";
import { cx } from "./cx";

export type CardTone = "plain" | "accent" | "warn" | "danger";

const tones: Record<CardTone, string> = {
  plain: "border-line bg-surface",
  accent: "border-accent/40 bg-accent-soft/50",
  warn: "border-warn-line bg-warn-soft",
  danger: "border-danger-line bg-danger-soft",
};

export interface CardProps extends HTMLAttributes<HTMLDivElement> {
  tone?: CardTone;
}

export function Card({ tone = "plain", className, ...rest }: CardProps) {
  return <div className={cx("rounded-lg border", tones[tone], className)} {...rest} />;
}
