import { useEffect, useState } from "react";
import { sentence } from "../../shared/errors";
import type { Refusal } from "./use-press-guard";

export interface AnswerState<Given, Answered> {
  /** What was pressed; null again when it did not arrive. */
  sent: Given | null;
  /** What the machine said to it. */
  answered: Answered | null;
  error: string | null;
}

export interface AnswerOptions<Given, Answered> {
  /** Whether this browser may answer now. */
  canAnswer: boolean;
  /** It no longer waits. */
  over: boolean;
  deliver: (answer: Given) => Promise<Answered>;
  /** An answer was given here, and again when it arrived. */
  onPress?: (() => void) | undefined;
  onAnswered?: (() => void) | undefined;
}

const open = { sent: null, answered: null, error: null };

/** The one answer of a card, from sent to applied. A failure gives the buttons back. */
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
      setState({ ...open, error: sentence(cause) });
    }
  };
  const give = (given: Given) => {
    if (ready) {
      refuse(null);
      onPress?.();
      void send(given);
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once, when the answer has arrived
  useEffect(() => {
    if (arrived) {
      onAnswered?.();
    }
  }, [arrived]);
  return { state, closed, ready, give, refused: ready ? refused : null, refuse };
}
