import { lazy, type ReactNode, type Ref, useId, useRef, useState } from "react";
import { t } from "../../../i18n/chat";
import { LazyPart } from "../../shared/MissingPart";
import { chunk } from "../../shared/missing-chunk";
import { type FileScope, fileQuery, withPath, withResource } from "../files/files";
import { type SlashItem, type SlashScope, slashQuery } from "../slash/slash";
import type { SuggestKeys, SuggestProps } from "../suggest/suggest";

const SlashMenu = lazy(chunk(() => import("../slash/SlashMenu")));
const FileMenu = lazy(chunk(() => import("../files/FileMenu")));

/** The sources of names for prompts; absent for none. */
export interface SuggestScope {
  slash?: SlashScope | undefined;
  files?: FileScope | undefined;
}

/** The text being written. */
export interface Written {
  text: string;
  caret: number;
  replace(text: string, caret: number): void;
}

export interface Suggest {
  /** The list, or null while the text asks for none. */
  menu: ReactNode;
  /** Returns true if the list handled the key. */
  press(key: string): boolean;
  /** Attributes of the field. */
  field: {
    "aria-autocomplete"?: "list";
    "aria-controls"?: string | undefined;
    "aria-activedescendant"?: string | undefined;
  };
}

/** The completion list for a text that begins with a slash or has an @ before the caret. */
export function useSuggest(scope: SuggestScope, written: Written): Suggest {
  const id = useId();
  const keys = useRef<SuggestKeys>(null);
  const [active, setActive] = useState<string | undefined>(undefined);
  // Escape closes the list for one name; the next name opens it again.
  const [closed, setClosed] = useState<string | null>(null);
  const asked = askedBy(scope, written);
  if (closed !== null && closed !== asked?.name) {
    setClosed(null);
  }
  const open = asked !== null && closed !== asked.name;
  const list = {
    id,
    keys: keys as Ref<SuggestKeys>,
    onActive: setActive,
    onClose: () => setClosed(asked?.name ?? null),
  };
  return {
    menu: open ? <LazyPart>{asked.menu(list)}</LazyPart> : null,
    press: (key) => open && (keys.current?.press(key) ?? false),
    field:
      scope.slash || scope.files
        ? {
            "aria-autocomplete": "list",
            "aria-controls": open && active ? id : undefined,
            "aria-activedescendant": open ? active : undefined,
          }
        : {},
  };
}

interface Asked {
  /** Identifies the name being written: it changes when another one is begun. */
  name: string;
  menu: (list: Omit<SuggestProps, "query">) => ReactNode;
}

function askedBy({ slash, files }: SuggestScope, { text, caret, replace }: Written): Asked | null {
  const command = slash?.projectId ? slashQuery(text) : null;
  if (slash && command !== null) {
    const pick = ({ kind, name }: SlashItem) => {
      const task = slash.onAgent ? "" : `${t("chat.slash.giveTask", { name })} `;
      const next = kind === "agent" ? task : `/${name} `;
      if (kind === "agent") {
        slash.onAgent?.(name);
      }
      replace(next, next.length);
    };
    return { name: "/", menu: (list) => <SlashMenu {...list} scope={slash} query={command} onPick={pick} /> };
  }
  const path = files ? fileQuery(text, caret) : null;
  if (!files || !path) {
    return null;
  }
  const { start, query } = path;
  return {
    name: `@${start}`,
    menu: (list) => (
      <FileMenu
        {...list}
        scope={files}
        query={query}
        onPick={(file) => {
          const next =
            file.kind === "resource"
              ? withResource(text, caret, start, file.path)
              : withPath(text, caret, start, file.path, file.kind === "folder");
          replace(next.text, next.caret);
        }}
      />
    ),
  };
}
