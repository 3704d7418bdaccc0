import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import type { Client, HostInfo } from "../../api/types";
import { hostInfo } from "../../app/testing/builders";
import { type FakeHost, FakeScorel } from "../../app/testing/fake-scorel";
import { ScorelContext } from "../shared/scorel-context";
import { AccessSheet } from "./AccessSheet";
import { dayOf, limitsOf } from "./limits";

const client = (id: string, label: string, more: Partial<Client> = {}): Client => ({
  id,
  label,
  grants: ["view"],
  pairedAt: 1,
  online: false,
  ...more,
});

function show(clients: Client[], prepare: (host: FakeHost) => void = () => {}) {
  const scorel = new FakeScorel();
  const host = scorel.host("dev_one");
  prepare(host);
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

test("lists this browser first and shows the access of each", async () => {
  show([
    client("cli_older", "Tablet", { pairedAt: Date.now(), lastSeen: 1 }),
    client("cli_old", "Old laptop", { grants: ["view", "teleport" as never], lastSeen: 2 }),
    client("cli_phone", "Phone", { online: true, grants: [] }),
    client("cli_me", "Chrome on Linux", { grants: ["view", "prompt", "shell"] }),
  ]);
  const [own, phone, old] = (await screen.findAllByTestId("client")) as [HTMLElement, HTMLElement, HTMLElement];
  expect(labels()).toEqual(["Chrome on Linux", "Phone", "Old laptop", "Tablet"]);
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
  expect((await screen.findByRole("alert")).textContent).toContain("The disk is full");
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
])("shows when a client was last seen: %i ms ago", async (passed, want) => {
  show([client("cli_old", "Old laptop", { lastSeen: Date.now() - passed })]);
  expect((await screen.findByTestId("last-seen")).textContent).toBe(want);
});

test("renames a client, shows why not if the machine refuses, and returns the focus", async () => {
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

const project = (id: string) => ({ id, name: id, path: `/code/${id}` });

/** Returns a host with two projects that stores changes of its clients. */
function limiting(clients: Client[], own: Partial<HostInfo> = {}) {
  const { host } = show(clients, ({ handlers }) => {
    handlers.list_projects = () => ({ projects: [project("garden"), project("shop")] }) as never;
    handlers.get_host = () => ({ host: hostInfo(own) });
  });
  const told: object[] = [];
  const keep = (id: string, change: Partial<Client>) => {
    const at = clients.findIndex((each) => each.id === id);
    clients[at] = { ...(clients[at] as Client), ...change };
    return { client: clients[at] as Client };
  };
  host.handlers.set_grant = ({ clientId, grant, given }) => {
    told.push({ grant, given });
    const before = (clients.find(({ id }) => id === clientId) as Client).grants.filter((each) => each !== grant);
    return keep(clientId, { grants: given ? [...before, grant] : before });
  };
  host.handlers.set_limits = ({ clientId, projects, expiresAt }) => {
    told.push({ projects, expiresAt });
    return keep(clientId, { projects: projects ?? [], expiresAt: expiresAt ?? 0 });
  };
  return { host, told };
}

const openAccess = async (label: string) =>
  fireEvent.click(await screen.findByRole("button", { name: new RegExp(`access of ${label}$`) }));
const toggle = (name: string) => screen.getByRole("switch", { name });
const off = (name: string) => toggle(name).getAttribute("aria-disabled");

test("shows in which projects a client works and until when", async () => {
  const soon = Date.now() + 60 * 60_000;
  limiting([
    client("cli_a", "A"),
    client("cli_b", "B", { projects: ["garden", "prj_gone"], expiresAt: soon }),
    client("cli_c", "C", { expiresAt: 1 }),
    client("cli_d", "D", { sessionId: "s1" }),
  ]);
  await screen.findAllByTestId("client");
  await screen.findByText("Only garden and prj_gone");
  const said = screen.getAllByTestId("client-limits").map((each) => each.textContent);
  expect(said[0]).toBe("All projects·No expiry");
  expect(said[1]).toContain("·Until ");
  expect(said[2]).toContain("·Expired ");
  expect(said[3]).toContain("Guest link to one session");
});

test("gives and removes a grant at once, and shows why others cannot be given", async () => {
  const { host, told } = limiting([client("cli_b", "B", { grants: ["view", "prompt"] })], {
    grants: ["view", "prompt", "manage"],
  });
  await openAccess("B");
  expect(off("Read sessions")).toBe("true");
  await waitFor(() => expect(off("Answer approvals")).toBe("true"));
  const about = (name: string) => document.getElementById(toggle(name).getAttribute("aria-describedby") ?? "");
  expect(about("Answer approvals")?.textContent).toContain("does not have this grant");
  expect(about("Open terminals")?.textContent).toContain("scorel host clients grant cli_b shell");
  fireEvent.click(toggle("Send prompts"));
  await waitFor(() => expect(toggle("Send prompts").getAttribute("aria-checked")).toBe("false"));
  fireEvent.click(toggle("Manage projects and access"));
  await waitFor(() => expect(toggle("Manage projects and access").getAttribute("aria-checked")).toBe("true"));
  expect(told).toEqual([
    { grant: "prompt", given: false },
    { grant: "manage", given: true },
  ]);
  host.handlers.set_grant = () => {
    throw new Error("this connection's own access expires");
  };
  fireEvent.click(toggle("Send prompts"));
  expect((await screen.findByRole("alert")).textContent).toContain("This connection's own access expires");
  expect(toggle("Send prompts").getAttribute("aria-checked")).toBe("false");
});

test("limits a client to projects and a time", async () => {
  const { told } = limiting([client("cli_b", "B")]);
  await openAccess("B");
  const save = () => screen.getByTestId("save-limits") as HTMLButtonElement;
  fireEvent.click(await screen.findByTestId("projects-some"));
  expect(save().disabled).toBe(true);
  expect(screen.getByText("Choose at least one project.")).toBeTruthy();
  fireEvent.click(screen.getByRole("checkbox", { name: /garden/ }));
  fireEvent.change(screen.getByTestId("limits-expiry"), { target: { value: "8h" } });
  const before = Date.now();
  fireEvent.click(save());
  await screen.findByText("Saved. In effect now.");
  const [first] = told as { projects: string[]; expiresAt: number }[];
  expect(first?.projects).toEqual(["garden"]);
  expect((first?.expiresAt ?? 0) - before - 8 * 60 * 60_000).toBeLessThan(10_000);
  fireEvent.click(screen.getByTestId("projects-all"));
  fireEvent.change(screen.getByTestId("limits-expiry"), { target: { value: "never" } });
  fireEvent.click(save());
  await waitFor(() => expect(told[1]).toEqual({ projects: undefined, expiresAt: undefined }));
});

test("a chosen day is included, and a past one rejected", async () => {
  limiting([client("cli_b", "B", { expiresAt: 1 })]);
  await openAccess("B");
  const save = (await screen.findByTestId("save-limits")) as HTMLButtonElement;
  expect(save.disabled).toBe(true); // it has expired: another end must be chosen
  fireEvent.change(screen.getByTestId("limits-expiry"), { target: { value: "date" } });
  const day = (value: string) => fireEvent.change(screen.getByLabelText("Date"), { target: { value } });
  day("2020-01-31");
  expect(save.disabled).toBe(true);
  day(dayOf(Date.now()));
  expect(save.disabled).toBe(false);
  expect(limitsOf({ all: true, projects: [], ending: "date", date: "2031-05-06" }, client("a", "A"), 0)).toEqual({
    expiresAt: new Date(2031, 4, 6, 23, 59, 59).getTime(),
  });
});

test("does not offer what no browser may change", async () => {
  limiting([client("cli_me", "Me", { grants: ["view", "manage"] }), client("cli_d", "D", { sessionId: "s1" })]);
  await openAccess("Me");
  expect(screen.getByText(/cannot change its own access/)).toBeTruthy();
  expect(off("Send prompts")).toBe("true");
  expect(screen.queryByTestId("limits")).toBeNull();
  fireEvent.click(screen.getByTestId("access-back"));
  await openAccess("D");
  expect(screen.getByText(/Revoke it and create another/)).toBeTruthy();
  expect(screen.queryByRole("switch")).toBeNull();
});

test("a limited browser gives no more projects than it sees", async () => {
  limiting([client("cli_b", "B", { projects: ["garden"] })], { limits: { projects: ["garden"] } });
  await openAccess("B");
  await waitFor(() => expect(screen.getByTestId("projects-all")).toHaveProperty("disabled", true));
  expect(screen.getByText(/can give access to no others/)).toBeTruthy();
});
