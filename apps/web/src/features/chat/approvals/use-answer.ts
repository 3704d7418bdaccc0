import { type ReactNode, useEffect, useState } from "react";
import { withHelp } from "../../shared/with-help";
import type { Refusal } from "./use-press-guard";

export interface AnswerState<Given, Answered> {
  /** The answer that was pressed; null again when it was not delivered. */
  sent: Given | null;
  /** The host's reply to it. */
  answered: Answered | null;
  error: ReactNode;
}

export interface AnswerOptions<Given, Answered> {
  /** Whether this browser may answer now. */
  canAnswer: boolean;
  /** Whether the approval or question no longer waits. */
  over: boolean;
  deliver: (answer: Given) => Promise<Answered>;
  /** Called when a person answers here, and again when the answer was delivered. */
  onPress?: (() => void) | undefined;
  onAnswered?: (() => void) | undefined;
}

const open = { sent: null, answered: null, error: null };

/** Manages the single answer of a card, from sent to delivered. A failure enables the buttons again. */
export function useAnswer<Given, Answered>(options: AnswerOptions<Given, Answered>) {
  const { canAnswer, over, deliver, onPress, onAnswered } = options;
  const [state, setState] = useState<AnswerState<Given, Answered>>(open);
  const [refused, refuse] = useState<Refusal | null>(null);
  const arrived = state.answered !== null;
  const closed = over || arrived;
  const ready = canAnswer && !closed && state.sent === null;
  const send = async (given: Given) => {
    setState({ ...open, sent: given });
    try {
      const answered = await deliver(given);
      setState({ sent: given, answered, error: null });
    } catch (cause) {
      setState({ ...open, error: withHelp(cause) });
    }
  };
  const give = (given: Given) => {
    if (ready) {
      refuse(null);
      onPress?.();
      void send(given);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: called once, when the answer has arrived
  useEffect(() => {
    if (arrived) {
      onAnswered?.();
    }
  }, [arrived]);
  return { state, closed, ready, give, refused: ready ? refused : null, refuse };
}
