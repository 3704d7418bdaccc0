import type { Host, PageDrafts, Scorel, SessionState, SessionView } from "../../api/contract";
import type { NoticeAnswer } from "../../api/notices";
import { t } from "../../i18n/push";
import { sentence } from "../shared/errors";

/** How long to wait for the session, in milliseconds. */
const PATIENCE = 20_000;

/**
 * Sends an answer from a notification through the sealed channel. Returns what a person has to know about it; null if
 * it counts. A reply that was not accepted becomes the draft of the session, so that it is not lost.
 */
export async function sendAnswer(scorel: Scorel, drafts: PageDrafts, answer: NoticeAnswer): Promise<string | null> {
  const host = scorel.host(answer.device);
  try {
    if (answer.decision) {
      return await decide(host, answer);
    }
    return await reply(host, answer);
  } catch (cause) {
    if (answer.reply) {
      await drafts.append(`${answer.device}/${answer.session}`, answer.reply);
      return t("push.answer.kept", { reason: sentence(cause) });
    }
    return t("push.answer.failed", { reason: sentence(cause) });
  }
}

async function decide(host: Host, { asks, approval: id, shown, decision = "deny" }: NoticeAnswer) {
  return withSession(host, asks, async (view, { live }) => {
    const approval = live.approvals.find((each) => each.id === id);
    if (!approval) {
      return t("push.answer.over");
    }
    if (shown && approval.shown !== shown) {
      return t("push.answer.changed");
    }
    const { won } = await view.answer(approval, { decision });
    return won ? null : t("push.answer.late");
  });
}

async function reply(host: Host, { session, asks, question: id, reply: text = "" }: NoticeAnswer) {
  if (!id) {
    const view = host.session(session);
    try {
      await view.send(text);
      return null;
    } finally {
      view.release();
    }
  }
  return withSession(host, asks, async (view, { live }) => {
    const question = live.questions.find((each) => each.id === id);
    if (!question) {
      throw new Error(t("push.answer.over"));
    }
    const { won } = await view.answerQuestion(question, { answer: text });
    if (!won) {
      throw new Error(t("push.answer.over"));
    }
    return null;
  });
}

/** Calls a function with a session once the host has sent it. */
async function withSession<T>(
  host: Host,
  sessionId: string,
  use: (view: SessionView, state: SessionState) => Promise<T>,
): Promise<T> {
  const view = host.session(sessionId);
  try {
    return await use(view, await live(view));
  } finally {
    view.release();
  }
}

function live({ state }: SessionView): Promise<SessionState> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const now = state.get();
      if (now.status === "live") {
        end();
        resolve(now);
      } else if (now.status === "missing" || now.status === "revoked" || now.status === "expired") {
        end();
        reject(new Error(t("push.answer.noSession")));
      }
    };
    const timer = setTimeout(() => {
      end();
      reject(new Error(t("push.answer.offline")));
    }, PATIENCE);
    const unsubscribe = state.subscribe(() => look());
    const end = () => {
      clearTimeout(timer);
      unsubscribe();
    };
    look();
  });
}
