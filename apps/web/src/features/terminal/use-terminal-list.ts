import { type Dispatch, type SetStateAction, useEffect, useState } from "react";
import type { Host } from "../../api/contract";
import type { Terminal } from "../../api/types";

/** The terminals of this browser, including those that another window opens or closes. */
export function useTerminalList(
  host: Host,
  first: Terminal[],
  shown: string | null,
): [Terminal[], Dispatch<SetStateAction<Terminal[]>>] {
  const [list, setList] = useState(first);
  const [known, setKnown] = useState<Terminal[] | null>(null);
  useEffect(() => {
    let latest = 0;
    const ask = () => {
      const mine = ++latest;
      host.request("list_terminals", {}).then(
        ({ terminals }) => mine === latest && setKnown(terminals),
        () => {}, // without the connection or the grant, the visible terminals report that themselves
      );
    };
    let before = host.status.get();
    const leave = [
      host.onEvent((event) => event.type === "terminals_changed" && ask()),
      host.status.subscribe(() => {
        const now = host.status.get();
        if (now === "open" && before !== "open") {
          ask();
        }
        before = now;
      }),
    ];
    return () => {
      latest = -1;
      for (const each of leave) {
        each();
      }
    };
  }, [host]);
  if (known) {
    setKnown(null);
    setList(merged(list, known, shown));
  }
  return [list, setList];
}

/** The visible terminal stays when the host no longer has it: it shows its last output, and how it ended. */
function merged(list: Terminal[], known: Terminal[], shown: string | null): Terminal[] {
  const has = (terminals: Terminal[], id: string) => terminals.some((each) => each.id === id);
  const kept = list.filter((each) => each.id === shown || has(known, each.id));
  return [...kept, ...known.filter((each) => !has(kept, each.id))];
}
