import { lazy, type ReactNode, useId, useRef, useState } from "react";
import { t } from "../../../i18n/chat";
import { LazyPart } from "../../shared/MissingPart";
import { chunk } from "../../shared/missing-chunk";
import { type SlashItem, type SlashKeys, type SlashScope, slashQuery } from "./slash";

const SlashMenu = lazy(chunk(() => import("./SlashMenu")));

export interface Slash {
  /** The menu, or null while the text asks for none. */
  menu: ReactNode;
  /** True if the key was meant for the menu. */
  press(key: string): boolean;
  /** Attributes of the field. */
  field: {
    "aria-autocomplete"?: "list";
    "aria-controls"?: string | undefined;
    "aria-activedescendant"?: string | undefined;
  };
}

/** The menu that a text opens which begins with a slash. `replace` puts another text into the field. */
export function useSlash(scope: SlashScope | undefined, text: string, replace: (text: string) => void): Slash {
  const id = useId();
  const keys = useRef<SlashKeys>(null);
  const [active, setActive] = useState<string | undefined>(undefined);
  const [closed, setClosed] = useState(false);
  const query = scope?.projectId ? slashQuery(text) : null;
  if (query === null && closed) {
    setClosed(false);
  }
  if (!scope) {
    return { menu: null, press: () => false, field: {} };
  }
  const open = query !== null && !closed;
  const pick = ({ kind, name }: SlashItem) => {
    if (kind !== "agent") {
      return replace(`/${name} `);
    }
    scope.onAgent?.(name);
    replace(scope.onAgent ? "" : `${t("chat.slash.giveTask", { name })} `);
  };
  return {
    menu: open ? (
      <LazyPart>
        <SlashMenu {...{ scope, query, id, keys }} onActive={setActive} onPick={pick} onClose={() => setClosed(true)} />
      </LazyPart>
    ) : null,
    press: (key) => open && (keys.current?.press(key) ?? false),
    field: {
      "aria-autocomplete": "list",
      "aria-controls": open && active ? id : undefined,
      "aria-activedescendant": open ? active : undefined,
    },
  };
}
