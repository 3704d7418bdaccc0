// Scenes of the inbox: several machines, sessions that ask, unread ones, none, and machines that are too old.
import type { Approval, SessionSummary } from "../src/api/types";
import { approval, hostInfo, project, question, summary } from "../src/app/testing/builders";
import { type FakeScorel, FakeSession } from "../src/app/testing/fake-scorel";
import { seen } from "../src/features/shared/seen";
import { chat, dev, type Scene, turn, world } from "./world";

const mini = "dev_p4xq9cc1wwtm8d2tdb0k3yfu";
const laptop = "dev_a8s0v5nmq3zzjd7ek1hxr6tc";
const minute = 60_000;

const push: Approval = approval({
  id: "i2",
  toolCallId: "c11",
  title: "Run git push --force origin main",
  command: "git push --force origin main",
  detail: "git push --force origin main",
  cwd: "/srv/site",
  risk: { level: "high", reasons: ["rewrites what others have"] },
  options: ["allow", "deny", "stop"],
});

const tests: Approval = approval({
  id: "i1",
  toolCallId: "c9",
  title: "Run go test -race ./apps/relay/...",
  command: "go test -race ./apps/relay/...",
  detail: "go test -race ./apps/relay/...",
  cwd: "/home/ada/src/scorel",
  risk: { level: "medium", reasons: ["runs a program of the project"] },
  options: ["allow", "always", "deny", "stop"],
  proposedRules: ["bash(go test *)"],
});

/** Adds a machine with sessions, all of which can be opened. */
function stock(scorel: FakeScorel, id: string, path: string, sessions: SessionSummary[]): void {
  const host = scorel.host(id);
  host.handlers.get_host = () => ({ host: hostInfo({ deviceId: id }) });
  host.handlers.list_projects = () => ({ projects: [project("m1", path)] });
  host.handlers.list_sessions = () => ({ sessions, total: sessions.length });
  host.handlers.list_clients = () => ({ clients: [] });
  for (const session of sessions) {
    host.sessions.set(session.id, new FakeSession(session.id, { summary: session }));
  }
}

/** Three machines, one of them offline; three sessions ask, and some are unread. */
function several(): FakeScorel {
  const scorel = world();
  const now = Date.now();
  const asks = { running: true, waitingApproval: true };
  const sessions = [
    summary("m1", "m1", "Publish the new landing page", { ...asks, updatedAt: now - 12 * minute }),
    summary("m2", "m1", "Translate the guide to Chinese", {
      ...{ running: true, waitingAnswer: true, updatedAt: now - 5 * minute },
    }),
    summary("m3", "m1", "Find out why the nightly backup takes nine hours", { updatedAt: now - 50 * minute }),
    summary("m4", "m1", "Update the TLS certificates", { updatedAt: now - 3 * 60 * minute }),
  ];
  stock(scorel, mini, "/srv/site", sessions);
  scorel.host(mini).handlers.search_sessions = () => ({
    hits: ["The backup copies every ", "Ask again once the login "].map((text, i) => ({
      ...{ sessionId: "m3", projectId: "m1", name: "Find out why the nightly backup takes nine hours" },
      ...{ entryId: `e${i}`, seq: i, role: "assistant", at: now - 55 * minute },
      snippet: [{ text }, { text: "session", found: true }, { text: " has ended, and starts from the beginning." }],
    })),
    more: true,
  });
  scorel.host(laptop).status.set("offline");
  scorel
    .host(dev)
    .sessions.get("s1")
    ?.patchLive({ turn, approvals: [tests] });
  scorel
    .host(mini)
    .sessions.get("m1")
    ?.patchLive({ turn, approvals: [push] });
  scorel
    .host(mini)
    .sessions.get("m2")
    ?.patchLive({
      turn,
      questions: [
        question({
          id: "i3",
          question: "Should product names stay in English?",
          choices: ["Yes, keep them", "No, translate them"],
        }),
      ],
    });
  const unread = [
    [dev, "s5", now - 4 * 24 * 60 * minute],
    [mini, "m3", now - 50 * minute],
  ] as const;
  for (const [device, id, updatedAt] of unread) {
    seen.begin(device, [{ id: "", updatedAt: now }]);
    seen.markUnread(device, { id, updatedAt });
  }
  return scorel;
}

/** One machine with as many sessions as an inbox lists. */
function many(): FakeScorel {
  const scorel = world();
  scorel.devices.set([{ id: mini, label: "mac mini in the cellar", online: true }]);
  const at = (i: number) => Date.now() - i * 37 * minute;
  const sessions = Array.from({ length: 500 }, (_, i) => summary(`n${i}`, "m1", `Task ${i + 1}`, { updatedAt: at(i) }));
  stock(scorel, mini, "/srv/site", sessions);
  scorel.host(mini).handlers.list_sessions = () => ({ sessions, total: 731 });
  return scorel;
}

export const inboxScenes: Record<string, () => Scene> = {
  inbox: () => ({ scorel: several(), path: "/" }),
  inboxmany: () => ({ scorel: many(), path: "/" }),
  inboxnomatch: () => ({ scorel: several(), path: `/?machine=${mini}&state=pinned` }),
  inboxempty: () => {
    const scorel = world();
    scorel.devices.set([{ id: mini, label: "mac mini in the cellar", online: true }]);
    stock(scorel, mini, "/srv/site", []);
    return { scorel, path: "/" };
  },
  find: chat((_, scorel) => {
    scorel.host(dev).handlers.search_sessions = ({ sessionId = "" }) => ({
      hits: ["e7", "e6", "e0"].map((entryId, i) => ({
        ...{ sessionId, projectId: "p1", name: "", entryId, seq: 8 - i, role: "user", at: 0, snippet: [] },
      })),
      total: 3,
    });
  }),
  inboxold: () => {
    const scorel = several();
    delete scorel.host(mini).handlers.list_sessions;
    return { scorel, path: "/" };
  },
  inboxoffline: () => {
    const scorel = world();
    scorel.devices.set([{ id: laptop, label: "old-laptop", online: false }]);
    scorel.host(laptop).status.set("offline");
    return { scorel, path: "/" };
  },
};
