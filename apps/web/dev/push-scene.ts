// Notifications of a machine: one address that works, and one that does not.
import type { HostPush } from "../src/api/types";

export function notifications(now: number, clientId?: string): HostPush {
  if (clientId) {
    return {
      key: "",
      subscriptions: [
        {
          ...{ id: "psh_3", clientId, kind: "chat", server: "Telegram: Ada" },
          ...{ addedAt: now - 86_400_000, lastAt: now - 60_000 },
        },
      ],
      settings: [{ clientId, level: "needs" }],
    };
  }
  return {
    key: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    subscriptions: [
      {
        ...{ id: "psh_1", clientId: "cli_me", kind: "web", server: "updates.push.services.mozilla.com" },
        ...{ addedAt: now - 86_400_000, lastAt: now - 60_000 },
      },
      {
        ...{ id: "psh_2", clientId: "cli_me", kind: "ntfy", server: "ntfy.sh", label: "phone", reduced: true },
        ...{ addedAt: now - 86_400_000, lastAt: now - 3_600_000, waiting: 1 },
        lastError: "the server answered 429: too many requests; it will be sent again",
      },
    ],
    settings: [
      {
        ...{ clientId: "cli_me", level: "needs", sessions: [{ sessionId: "s2", level: "none" }] },
        quiet: { from: "22:00", to: "07:30", zone: "Europe/Berlin" },
      },
    ],
  };
}
