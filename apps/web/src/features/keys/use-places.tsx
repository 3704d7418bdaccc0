import { Dot } from "../../components/Badge";
import { ArchiveIcon, CheckIcon, MachineIcon, PinIcon, PlusIcon, TerminalIcon } from "../../components/icons";
import { t } from "../../i18n/keys";
import { type Item, needsYou } from "../inbox/sections";
import { useItemActions } from "../inbox/use-item-actions";
import { itemsOf, type Machine, useEachAnswer, useMachines, useSeen } from "../inbox/use-machines";
import { address } from "../route/address";
import { useOpen } from "../route/entry";
import { navigate } from "../route/history";
import { may } from "../shared/grants";
import { sessionTitle } from "../shared/host-data";
import type { Entry } from "./entries";

/** How many sessions are listed before anything is typed. */
const recent = 6;

export interface Places {
  machines: readonly Machine[];
  sessions: Entry[];
  /** The actions for the page's session. */
  here: Entry[];
  /** The machines, and what can be started on each. */
  others: Entry[];
}

/** Returns the known sessions, projects and machines: for offline machines, their last known state. */
export function usePlaces(): Places {
  const machines = useMachines() ?? [];
  const projects = useEachAnswer("list_projects");
  const infos = useEachAnswer("get_host");
  const items = itemsOf(machines, useSeen(machines), projects);
  const { deviceId, sessionId } = useOpen();
  const shown = items.find(({ device, session }) => device.id === deviceId && session.id === sessionId);
  const toSession = useSessionEntry();
  const ordered = items.filter((item) => item !== shown).sort(byUrgency);
  const newIn = useNewSessions();
  const machineEntries = useMachineEntries();
  const newest = shown ?? ordered.toSorted((a, b) => b.session.updatedAt - a.session.updatedAt)[0];
  const here = useHereEntries();
  return {
    machines,
    sessions: ordered.map((item, i) => toSession(item, i < recent)),
    here: shown?.reachable && may(infos.get(shown.device.id)?.host ?? null, "prompt") ? here(shown) : [],
    others: [
      ...machines.flatMap((machine) => {
        const { id } = machine.device;
        const info = infos.get(id)?.host ?? null;
        return may(info, "prompt") ? newIn(machine, projects.get(id)?.projects ?? [], newest) : [];
      }),
      ...machines.flatMap((machine) => machineEntries(machine, machine.device.id === deviceId)),
    ],
  };
}

/** Orders sessions that wait for the person first, then the newest. */
function byUrgency({ session: a }: Item, { session: b }: Item): number {
  return Number(needsYou(b)) - Number(needsYou(a)) || b.updatedAt - a.updatedAt;
}

function useSessionEntry() {
  return (item: Item, first: boolean): Entry => {
    const { device, project, session } = item;
    return {
      id: `session/${item.id}`,
      kind: "sessions",
      title: sessionTitle(session),
      icon: <State item={item} />,
      place: [project?.name, device.label].filter(Boolean).join(" · "),
      at: session.updatedAt,
      first,
      run: () => navigate(address.session(device.id, session.id)),
    };
  };
}

function State({ item: { session, unread, reachable } }: { item: Item }) {
  const waits = needsYou(session);
  const word = waits
    ? t("keys.states.needsYou")
    : session.running
      ? t("keys.states.running")
      : unread
        ? t("keys.states.unread")
        : null;
  if (word === null) {
    return <span className="size-2 rounded-full border border-line-strong" />;
  }
  return (
    <>
      <Dot tone={reachable ? (waits ? "warn" : "accent") : "neutral"} live={reachable && session.running} />
      <span className="sr-only">{word}: </span>
    </>
  );
}

function useHereEntries() {
  const actions = useItemActions();
  return (item: Item): Entry[] => {
    const { pinned, archived } = item.session;
    const own = { kind: "page", first: true } as const;
    return [
      {
        ...{ ...own, id: "here/archive", icon: <ArchiveIcon />, run: () => actions.toggleArchived(item) },
        title: archived ? t("keys.here.unarchive") : t("keys.here.archive"),
      },
      {
        ...{ ...own, id: "here/pin", icon: <PinIcon />, run: () => actions.togglePinned(item) },
        title: pinned ? t("keys.here.unpin") : t("keys.here.pin"),
      },
      {
        ...{ ...own, id: "here/unread", icon: <CheckIcon />, first: false },
        title: item.unread ? t("keys.here.read") : t("keys.here.unread"),
        run: () => {
          actions.toggleRead(item);
          // An open session is read.
          if (!item.unread) {
            navigate(address.inbox());
          }
        },
      },
    ];
  };
}

function useNewSessions() {
  return ({ device }: Machine, projects: readonly { id: string; name: string }[], newest: Item | undefined) =>
    projects.map(
      ({ id, name }): Entry => ({
        id: `new/${device.id}/${id}`,
        kind: "actions",
        title: t("keys.actions.newSession", { name }),
        icon: <PlusIcon />,
        place: device.label,
        others: t("keys.words.newSession"),
        first: newest?.device.id === device.id && newest.session.projectId === id,
        run: () => navigate(address.newSession(device.id, { project: id })),
      }),
    );
}

function useMachineEntries() {
  return ({ device, status }: Machine, here: boolean): Entry[] => {
    return [
      {
        id: `machine/${device.id}`,
        kind: "machines",
        title: device.label,
        icon: <MachineIcon />,
        ...(status === "open" ? {} : { place: t("keys.palette.offline") }),
        others: t("keys.words.machine"),
        first: true,
        run: () => navigate(address.machine(device.id)),
      },
      {
        id: `terminal/${device.id}`,
        kind: "actions",
        title: t("keys.actions.terminal", { label: device.label }),
        icon: <TerminalIcon />,
        others: t("keys.words.terminal"),
        first: here,
        run: () => navigate(address.terminals(device.id)),
      },
    ];
  };
}
