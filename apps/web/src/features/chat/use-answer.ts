import { useState } from "react";
import { sentence } from "../shared/errors";

export interface AnswerState<Given, Answered> {
  /** What was pressed; null again when it did not arrive. */
  sent: Given | null;
  /** What the machine said to it. */
  answered: Answered | null;
  error: string | null;
}

const open = { sent: null, answered: null, error: null };

/** One answer from sent to applied. A failure gives the buttons back. */
export function useAnswer<Given, Answered>(deliver: (answer: Given) => Promise<Answered>) {
  const [state, setState] = useState<AnswerState<Given, Answered>>(open);
  const answer = async (given: Given) => {
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
