import { useEffect, useState } from "react";
import { locale } from "../../i18n/i18n";
import { t } from "../../i18n/shared";

/** The clock in Unix milliseconds, updated every `every` milliseconds; null stops it. */
export function useNow(every: number | null): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (every === null) {
      return;
    }
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** Formats milliseconds as "9:41"; never negative. */
export function minutesAndSeconds(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Formats an age for a list: "now", "5 min", "3 h", "2 d", then the date. */
export function ago(then: number, now: number): string {
  const passed = now - then;
  if (passed < minute) {
    return t("shared.time.now");
  }
  if (passed < hour) {
    return t("shared.time.minutes", { count: Math.floor(passed / minute) });
  }
  if (passed < day) {
    return t("shared.time.hours", { count: Math.floor(passed / hour) });
  }
  if (passed < 7 * day) {
    return t("shared.time.days", { count: Math.floor(passed / day) });
  }
  return new Date(then).toLocaleDateString(locale(), { day: "numeric", month: "short", year: "numeric" });
}

/** Formats the time of day for today, and the date with the time before that. */
export function clock(then: number, now = Date.now()): string {
  const sameDay = new Date(then).toDateString() === new Date(now).toDateString();
  return new Date(then).toLocaleString(locale(), {
    hour: "2-digit",
    minute: "2-digit",
    ...(sameDay ? {} : { day: "numeric", month: "short" }),
  });
}
