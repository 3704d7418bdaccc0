import { type RefObject, useEffect, useEffectEvent } from "react";
import type { Decision } from "../../../api/types";
import type { ByKey } from "./meant-by";
import { showCard } from "./use-card-focus";
import type { Guard, Refusal } from "./use-press-guard";

export interface ApprovalKeys {
  card: RefObject<HTMLElement | null>;
  /** Whether the card can be answered now. */
  on: boolean;
  /** Whether it receives keys while nothing has the focus. */
  active: boolean;
  guard: Guard;
  /** Returns the answer that a key gives; undefined if it gives none here. */
  meant: (key: ByKey) => Decision | undefined;
  press: (decision: Decision) => void;
  refuse: (why: Refusal) => void;
}

/** The elements that receive letters themselves. */
const typing = "input,textarea,select,[contenteditable]";

/**
 * Handles keys for a card: A allows, Shift+A always allows, D denies. They go to the card that has the focus. When
 * nothing, or the transcript as a whole, has the focus, they go to the active card, which is scrolled into view first.
 * In that case a denial too must wait until the card has been visible, because it was not chosen. A key that is held
 * down, and keys in a field or beside a dialog, do nothing.
 */
export function useApprovalKeys({ card, on, active, guard, meant, press, refuse }: ApprovalKeys): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const key = keyOf(event);
    const { target } = event;
    if (!key || !(target instanceof Element) || target.closest(typing) || document.querySelector("dialog[open]")) {
      return;
    }
    const focused = card.current?.contains(target) ?? false;
    const nowhere = target === document.body || target.matches("[data-transcript]");
    if (!focused && !(active && nowhere)) {
      return;
    }
    event.preventDefault();
    const decision = meant(key);
    if (!decision) {
      return;
    }
    if (guard.takesKeys() || (key === "deny" && focused)) {
      press(decision);
    } else {
      refuse("early");
      if (!focused) {
        showCard(card.current);
      }
    }
  });
  useEffect(() => {
    if (!on) {
      return;
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [on]);
}

function keyOf(event: KeyboardEvent): ByKey | null {
  if (event.defaultPrevented || event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) {
    return null;
  }
  const key = event.key.toLowerCase();
  if (key === "a") {
    return event.shiftKey ? "always" : "allow";
  }
  return key === "d" && !event.shiftKey ? "deny" : null;
}
