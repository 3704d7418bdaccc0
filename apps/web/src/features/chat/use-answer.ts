import { useState } from "react";
import type { Answer, Answered } from "../../api/contract";
import { sentence } from "../shared/errors";

export interface AnswerState {
  /** What was pressed; null again when it did not arrive. */
  sent: Answer | null;
  /** What the machine said to it. */
  answered: Answered | null;
  error: string | null;
}

const open: AnswerState = { sent: null, answered: null, error: null };

/** One answer from sent to applied. A failure gives the buttons back. */
export function useAnswer(deliver: (answer: Answer) => Promise<Answered>) {
  const [state, setState] = useState(open);
  const answer = async (given: Answer) => {
    setState({ ...open, sent: given });
    try {
      const answered = await deliver(given);
      setState({ sent: given, answered, error: null });
    } catch (cause) {
      setState({ ...open, error: sentence(cause) });
    }
  };
  return { state, answer };
}
