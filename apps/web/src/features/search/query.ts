import type { Requests, SearchHit } from "../../api/types";

/** A hit with the machine that it is on. */
export interface FoundHit {
  deviceId: string;
  /** The name of the machine, where several are searched. */
  machine?: string;
  hit: SearchHit;
}

/** What a search over one machine or more came to; `hits` is null until something was asked and answered. */
export interface Found {
  hits: FoundHit[] | null;
  /** What was searched for. */
  text: string;
  /** How many sessions are left to search. */
  behind: number;
  error: string | null;
  busy: boolean;
}

/** What was found for a text; `found` is null until something was asked and answered. */
export interface Search {
  found: Requests["search_sessions"]["response"] | null;
  error: string | null;
  busy: boolean;
}

/** How long until a machine that has sessions left to search is asked again, in milliseconds. */
const again = 3_000;

/** When a search is repeated: what was said last is found a moment later. */
export function askAgain(found: Requests["search_sessions"]["response"] | undefined): number | false {
  return found?.behind ? again : false;
}

/** Whether there is enough in a text to search for. */
export function isSearch(text: string): boolean {
  return (text.match(/[\p{L}\p{N}]/gu) ?? []).length >= 2 || /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(text);
}

/** The search for what is being typed: its last word may go on. A phrase that is open stays as it is. */
export function whileTyping(text: string): string {
  const query = text.trim();
  const quotes = query.split('"').length - 1;
  return quotes % 2 === 0 && /[\p{L}\p{N}]{2}$/u.test(query) ? `${query}*` : query;
}
