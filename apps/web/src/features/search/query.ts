import type { ReactNode } from "react";
import type { Requests, SearchHit } from "../../api/types";

/** A hit with its machine. */
export interface FoundHit {
  deviceId: string;
  /** The name of the machine, if several are searched. */
  machine?: string;
  hit: SearchHit;
}

/** The result of searching one or more machines; `hits` is null until there is an answer. */
export interface Found {
  hits: FoundHit[] | null;
  /** The text that was searched for. */
  text: string;
  /** How many sessions the machines have not searched yet. */
  behind: number;
  error: ReactNode;
  busy: boolean;
  /** Whether there may be older hits. */
  more?: boolean;
}

/** The result for a text; `found` is null until there is an answer. */
export interface Search {
  found: Requests["search_sessions"]["response"] | null;
  error: ReactNode;
  busy: boolean;
}

/** The delay before a machine with unsearched sessions is asked again, in milliseconds. */
const again = 3_000;

/** Returns the delay before a search is repeated: new messages are found a moment later. */
export function askAgain(found: Requests["search_sessions"]["response"] | undefined): number | false {
  return found?.behind ? again : false;
}

/** Reports whether a text is long enough to search for. */
export function isSearch(text: string): boolean {
  return (text.match(/[\p{L}\p{N}]/gu) ?? []).length >= 2 || /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(text);
}

/** Returns the query for a text that is being typed: its last word may be incomplete. An open phrase is unchanged. */
export function whileTyping(text: string): string {
  const query = text.trim();
  const quotes = query.split('"').length - 1;
  return quotes % 2 === 0 && /[\p{L}\p{N}]{2}$/u.test(query) ? `${query}*` : query;
}
