/** The logo: two ends and the line between them, bent through the relay. */
export function Mark({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" width="1.5em" height="1.5em" fill="none" aria-hidden="true" className={className}>
      <path
        d="M9 23h5.5a3.5 3.5 0 0 0 3-5.3l-3-3.4a3.5 3.5 0 0 1 3-5.3H23"
        stroke="var(--c-accent)"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
      <circle cx="7" cy="23" r="3.2" fill="currentColor" />
      <circle cx="25" cy="9" r="3.2" fill="currentColor" />
    </svg>
  );
}

export function Wordmark() {
  return (
    <span className="inline-flex items-center gap-2 font-mono font-semibold text-[1.0625rem] tracking-tight">
      <Mark />
      scorel
    </span>
  );
}
