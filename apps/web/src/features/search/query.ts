import type { ReactNode } from "react";
import { useState } from "react";
import type { Host } from "../../api/contract";
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
  /** Lists older hits; absent if there are none, or if the machine cannot tell. */
  onOlder?: (() => void) | undefined;
}

type Answer = Requests["search_sessions"]["response"];

/** The result for a text; `found` is null until there is an answer. */
export interface Search extends Pick<Found, "error" | "busy" | "onOlder"> {
  found: Answer | null;
}

/** Searches a machine. The result has the hits of several answers, as many as `pages` at the most. */
export async function searchPages(
  host: Host,
  fields: { query: string; limit: number },
  pages: number,
): Promise<Answer> {
  const hits = new Map<string, SearchHit>();
  for (let page = 1, skip = 0; ; page++) {
    const answer = await host.request("search_sessions", skip > 0 ? { ...fields, skip } : fields);
    // A new message can move a hit into the next answer.
    for (const hit of answer.hits) {
      hits.set(`${hit.sessionId}/${hit.entryId}`, hit);
    }
    skip += answer.hits.length;
    if (page >= pages || !answer.more || answer.hits.length === 0) {
      return { ...answer, hits: [...hits.values()] };
    }
  }
}

/** Counts the pages that a person wants of the hits of a text. */
export function usePages(text: string): [pages: number, onOlder: () => void] {
  const [wanted, setWanted] = useState({ text, pages: 1 });
  const pages = wanted.text === text ? wanted.pages : 1;
  return [pages, () => setWanted({ text, pages: pages + 1 })];
}

/** The delay before a machine with unsearched sessions is asked again, in milliseconds. */
const again = 3_000;

/** Returns the delay before a search is repeated: new messages are found a moment later. */
export function askAgain(found: Answer | undefined): number | false {
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
