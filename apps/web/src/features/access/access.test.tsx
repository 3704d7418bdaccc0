import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import type { Client } from "../../api/types";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { ScorelContext } from "../shared/scorel-context";
import { AccessSheet } from "./AccessSheet";

const client = (id: string, label: string, more: Partial<Client> = {}): Client => ({
  id,
  label,
  grants: ["view"],
  pairedAt: 1,
  online: false,
  ...more,
});

function show(clients: Client[]) {
  const scorel = new FakeScorel();
  const host = scorel.host("dev_one");
  const revoked: string[] = [];
  host.handlers.list_clients = () => ({ clients: clients.filter(({ id }) => !revoked.includes(id)) });
  const renamed: string[] = [];
  host.handlers.rename_client = ({ clientId, label }) => {
    renamed.push(label);
    const found = clients.find(({ id }) => id === clientId) as Client;
    clients[clients.indexOf(found)] = { ...found, label };
    return { client: { ...found, label } };
  };
  host.handlers.revoke_client = ({ clientId }) => {
    revoked.push(clientId);
    return {};
  };
  const onClose = vi.fn();
  render(
    <ScorelContext value={scorel}>
      <QueryClientProvider client={new QueryClient()}>
        <AccessSheet host={host} machine="desk" onClose={onClose} />
      </QueryClientProvider>
    </ScorelContext>,
  );
  return { host, revoked, renamed };
}

const labels = () => screen.getAllByTestId("client").map((row) => row.querySelector("bdi")?.textContent);

test("lists this browser first and says what each may do", async () => {
  show([
    client("cli_old", "Old laptop", { grants: ["view", "teleport" as never] }),
    client("cli_phone", "Phone", { online: true, grants: [] }),
    client("cli_me", "Chrome on Linux", { grants: ["view", "prompt", "shell"] }),
  ]);
  const [own, phone, old] = (await screen.findAllByTestId("client")) as [HTMLElement, HTMLElement, HTMLElement];
  expect(labels()).toEqual(["Chrome on Linux", "Phone", "Old laptop"]);
  expect(own.textContent).toContain("This browser");
  expect(own.textContent).toContain("May read sessions, send prompts, and open terminals");
  expect(phone.textContent).toContain("May do nothing");
  expect(phone.textContent).toContain("Active now");
  expect(own.textContent).toContain("Not connected");
  expect(old.textContent).toContain("May read sessions and teleport");
});

test("revokes a client after a confirmation, and shows why if the machine refuses", async () => {
  const { host, revoked } = show([client("cli_me", "Chrome on Linux"), client("cli_old", "Old laptop")]);
  await screen.findAllByTestId("client");
  const ask = () => fireEvent.click(screen.getByRole("button", { name: "Revoke Old laptop" }));
  ask();
  expect(screen.getByRole("dialog").textContent).toContain("It loses its connection to desk at once");
  expect(revoked).toEqual([]);
  const works = host.handlers.revoke_client;
  host.handlers.revoke_client = () => {
    throw new Error("the disk is full");
  };
  const confirm = () => fireEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Revoke" }));
  confirm();
  expect((await screen.findByRole("alert")).textContent).toContain("the disk is full");
  host.handlers.revoke_client = works as never;
  confirm();
  await waitFor(() => expect(labels()).toEqual(["Chrome on Linux"]));
  expect(revoked).toEqual(["cli_old"]);
});

test("warns before this browser revokes itself", async () => {
  show([client("cli_me", "Chrome on Linux")]);
  fireEvent.click(await screen.findByRole("button", { name: "Revoke Chrome on Linux" }));
  expect(screen.getByRole("dialog").textContent).toContain("This browser loses its connection to desk at once");
});

test.each([
  [30_000, "Last seen 1 minute ago"],
  [3 * 60 * 60_000 + 1, "Last seen 3 hours ago"],
  [30 * 60 * 60_000, "Last seen yesterday"],
])("says when a client was last seen: %i ms ago", async (passed, want) => {
  show([client("cli_old", "Old laptop", { lastSeen: Date.now() - passed })]);
  expect((await screen.findByTestId("last-seen")).textContent).toBe(want);
});

test("renames a client, shows why not if the machine refuses, and gives the focus back", async () => {
  const { host, renamed } = show([client("cli_old", "Old laptop")]);
  const open = async () => fireEvent.click(await screen.findByRole("button", { name: "Rename Old laptop" }));
  const type = (value: string) => fireEvent.change(screen.getByLabelText("Name"), { target: { value } });
  await open();
  expect(document.activeElement).toBe(screen.getByLabelText("Name"));
  type(" \u202e ");
  expect(screen.getByRole("button", { name: "Save" })).toHaveProperty("disabled", true);
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  await open();
  const works = host.handlers.rename_client;
  host.handlers.rename_client = () => {
    throw new Error("the disk is full");
  };
  type("  Work\tlaptop ");
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  expect((await screen.findByRole("alert")).textContent).toBe("The disk is full");
  host.handlers.rename_client = works as never;
  fireEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(labels()).toEqual(["Work laptop"]));
  expect(renamed).toEqual(["Work laptop"]);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("button", { name: "Rename Work laptop" })));
});
