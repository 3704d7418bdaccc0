import { useEffect } from "react";
import { takeAnswers } from "../../api/notices";
import { useToast } from "../../components/Toast";
import { useScorel } from "../shared/scorel-context";
import { useDrafts } from "../shared/use-drafts";
import { sendAnswer } from "./send-answer";
import { keepNoticeWords } from "./words";

/** Sends what people answer in notifications while a page is open. It renders nothing. */
export default function NoticeAnswers() {
  const scorel = useScorel();
  const drafts = useDrafts();
  const toast = useToast();
  useEffect(() => {
    void keepNoticeWords().catch(() => {}); // no storage
    return takeAnswers(async (answer) => {
      const problem = await sendAnswer(scorel, drafts, answer);
      if (problem) {
        toast(problem);
      }
    });
  }, [scorel, drafts, toast]);
  return null;
}
