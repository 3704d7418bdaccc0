import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind, type Channel, type ChannelPlatform, type Grant, type HostPush } from "../../api/types";
import { hostInfo } from "../../app/testing/builders";
import { FakeScorel } from "../../app/testing/fake-scorel";
import ChannelList from "./ChannelList";

const platforms: ChannelPlatform[] = [
  { kind: "telegram", title: "Telegram", settings: [{ name: "token", usage: "token of the bot", secret: true }] },
  {
    ...{ kind: "later", title: "Later" },
    settings: [
      { name: "server", usage: "address of the server" },
      { name: "region", usage: "its region", optional: true },
    ],
  },
];

const channel: Channel = {
  ...{ id: "chn_1", kind: "telegram", name: "Telegram", state: "failed", addedAt: 1, bot: "@bot" },
  problem: "the token is wrong",
  chats: [],
};

function show(channels: Channel[], grants: Grant[] = ["view", "prompt", "approve", "files", "manage"]) {
  const host = new FakeScorel().host("dev_one");
  const state = { channels, platforms };
  host.handlers.list_channels = () => structuredClone(state);
  host.handlers.list_projects = () => ({
    projects: [{ id: "p1", name: "site", path: "/site", activeSessions: 0 }] as never,
  });
  host.handlers.pair_channel = () => ({ code: "7K3M-9QXR", expiresAt: Date.now() + 600_000 });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <ChannelList host={host} info={hostInfo({ grants })} />
    </QueryClientProvider>,
  );
  return { host, state };
}

/** Creates a code once the projects are known. */
async function create() {
  await screen.findByText("site");
  fireEvent.click(screen.getByTestId("pair-create"));
}

const sent = (host: ReturnType<typeof show>["host"], name: string) =>
  host.requests.filter((each) => each.name === name).map(({ fields }) => fields);

test("a channel shows its state and its last error, and who can read a chat", async () => {
  show([channel]);
  expect((await screen.findByTestId("channel-problem")).textContent).toBe("Last error: the token is wrong");
  expect(screen.getByTestId("channel").dataset.state).toBe("failed");
  expect(screen.getByTestId("channels-readable").textContent).toContain("the platform and every member of the chat");
});

test("a channel is added, and its token stays in no field", async () => {
  const { host, state } = show([]);
  fireEvent.click(await screen.findByTestId("channel-add"));
  const token = screen.getByTestId<HTMLInputElement>("channel-setting-token");
  expect(token.type).toBe("password");
  expect(screen.getByTestId("channel-save")).toHaveProperty("disabled", true);
  fireEvent.change(token, { target: { value: " 1:secret " } });
  // The token of one platform is not kept for another, whose settings need only the words of the host.
  fireEvent.change(screen.getByTestId("channel-platform"), { target: { value: "later" } });
  screen.getByLabelText("address of the server");
  fireEvent.change(screen.getByTestId("channel-platform"), { target: { value: "telegram" } });
  expect(screen.getByTestId<HTMLInputElement>("channel-setting-token").value).toBe("");
  fireEvent.change(screen.getByTestId("channel-setting-token"), { target: { value: " 1:secret " } });
  host.handlers.add_channel = () => Promise.reject(new ApiError(ApiKind.bad_request, "the token is malformed"));
  fireEvent.click(screen.getByTestId("channel-save"));
  await screen.findByText("The token is malformed");
  host.handlers.add_channel = () => {
    state.channels = [channel];
    return { channel };
  };
  fireEvent.click(screen.getByTestId("channel-save"));
  await screen.findByText("Added Telegram. Connect a chat to it next.");
  const added = sent(host, "add_channel") as { clientKey: string }[];
  expect(added[1]).toEqual({
    kind: "telegram",
    name: "",
    settings: { token: "1:secret" },
    clientKey: added[0]?.clientKey,
  });
  expect(document.body.innerHTML).not.toContain("1:secret");
});

test("a code connects a chat with the chosen access, until it expires", async () => {
  const { host, state } = show([channel]);
  fireEvent.click(await screen.findByTestId("channel-pair"));
  fireEvent.click(screen.getByTestId("pair-files"));
  await create();
  expect((await screen.findByTestId("chat-code")).textContent).toBe("7K3M-9QXR");
  expect(screen.getByTestId("pair-chat").textContent).toMatch(/expires in (10:00|9:59)/);
  expect(sent(host, "pair_channel")).toEqual([{ id: "chn_1", projectId: "p1", grants: ["view", "prompt", "approve"] }]);
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + 601_000);
  await screen.findByText("The code has expired. Create a new one.", {}, { timeout: 5000 });
  vi.restoreAllMocks();
  fireEvent.click(screen.getByTestId("pair-again"));
  await screen.findByTestId("chat-code");
  state.channels = [{ ...channel, chats: [{ id: "9", title: "Ada", projectId: "p1", boundAt: 7, senders: [] }] }];
  host.handlers.test_channel = () => ({ channel });
  fireEvent.click(screen.getByTestId("pair-done"));
  fireEvent.click(screen.getByTestId("channel-test")); // asks for the list again
  await screen.findByText("The token works: the bot is @bot.");
  await screen.findByTestId("channel-chat");
});

test("a browser gives no grant that it does not have", async () => {
  const { host } = show([channel], ["view", "prompt", "manage"]);
  fireEvent.click(await screen.findByTestId("channel-pair"));
  fireEvent.click(screen.getByTestId("pair-approve"));
  await create();
  await waitFor(() => expect(sent(host, "pair_channel")).toMatchObject([{ grants: ["view", "prompt"] }]));
});

test("people are allowed and ignored, and names of strangers stay plain", async () => {
  const eve = { id: "666", name: "Eve \u202e<b>" };
  const chat = {
    id: "c1",
    title: "Team",
    projectId: "p1",
    boundAt: 1,
    senders: [{ id: "1", name: "Ada", addedAt: 1 }],
  };
  const { host } = show([{ ...channel, chats: [{ ...chat, ignored: [eve] }] }]);
  host.handlers.allow_sender = () => ({ channel });
  host.handlers.remove_chat = () => ({ channel });
  const [ada, stranger] = await screen.findAllByTestId("channel-sender");
  expect(stranger?.textContent).toContain("Eve <U+202E><b> (666)");
  fireEvent.click(within(stranger as HTMLElement).getByTestId("sender-act"));
  await screen.findByText("Messages of this person now reach the agent.");
  fireEvent.click(within(ada as HTMLElement).getByTestId("sender-act"));
  await screen.findByText("Messages of this person are now ignored.");
  expect(sent(host, "allow_sender")).toEqual([
    { id: "chn_1", chatId: "c1", senderId: "666", allowed: true },
    { id: "chn_1", chatId: "c1", senderId: "1", allowed: false },
  ]);
  fireEvent.click(screen.getByTestId("chat-remove"));
  fireEvent.click(screen.getByRole("button", { name: "Remove" }));
  await screen.findByText("Disconnected Team.");
});

test("a chat is notified with settings of its own", async () => {
  const chat = { id: "c1", clientId: "chat_1", title: "Team", projectId: "p1", boundAt: 1, senders: [] };
  const { host } = show([{ ...channel, chats: [chat] }]);
  const push: HostPush = { key: "", subscriptions: [], settings: [{ clientId: "chat_1", level: "all" }] };
  host.handlers.list_push = () => structuredClone(push);
  host.handlers.set_push = () => ({ settings: push.settings[0] as never });
  fireEvent.click(await screen.findByTestId("chat-notices"));
  host.handlers.add_push = () => {
    const subscription = {
      id: "psh_1",
      clientId: "chat_1",
      kind: "chat",
      server: "Telegram: Team",
      addedAt: 1,
    } as const;
    push.subscriptions = [subscription];
    return { subscription };
  };
  fireEvent.click(await screen.findByTestId("chat-push-on"));
  await screen.findByText("Notifications are on in this chat.");
  expect(screen.getByTestId("push-address").textContent).toContain("members of the chat can read");
  fireEvent.change(screen.getByTestId("push-level"), { target: { value: "needs" } });
  await waitFor(() => expect(sent(host, "set_push")).toEqual([{ clientId: "chat_1", level: "needs" }]));
  host.handlers.test_push = () => ({
    subscription: { ...push.subscriptions[0], lastError: "the channel is gone" } as never,
  });
  await waitFor(() => expect(screen.getByTestId("push-test")).toHaveProperty("disabled", false));
  fireEvent.click(screen.getByTestId("push-test"));
  await screen.findByText("The test was not sent: the channel is gone");
  expect(sent(host, "list_push")[0]).toEqual({ clientId: "chat_1" });
});
