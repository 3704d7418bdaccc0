import { type Ref, useImperativeHandle, useRef } from "react";
import { IconButton } from "../../components/Button";
import { cx } from "../../components/cx";
import { CloseIcon, SearchIcon } from "../../components/icons";
import { Spinner } from "../../components/Spinner";
import { t } from "../../i18n/search";

export interface SearchFieldProps {
  text: string;
  onText: (text: string) => void;
  busy: boolean;
  className?: string;
  ref?: Ref<HTMLInputElement>;
}

/** The search field for sessions. Escape clears it. */
export function SearchField({ text, onText, busy, className, ref }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useImperativeHandle(ref, () => field.current as HTMLInputElement);
  return (
    <search className={cx("relative block", className)}>
      <SearchIcon className="pointer-events-none absolute top-1/2 left-3 -translate-y-1/2 text-faint" />
      <input
        ref={field}
        type="search"
        data-testid="session-search"
        aria-label={t("search.searchField.searchSessions")}
        placeholder={t("search.searchField.searchSessions")}
        autoComplete="off"
        enterKeyHint="search"
        maxLength={200}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            onText("");
          }
        }}
        className="touchable block w-full rounded-md border border-line-strong bg-surface py-1.5 pr-12 pl-9 text-base placeholder:text-faint sm:text-sm"
      />
      {busy ? (
        <span className="absolute top-0 right-11 flex h-full items-center text-faint">
          <Spinner />
        </span>
      ) : null}
      {text === "" ? null : (
        <IconButton
          label={t("search.searchField.clearSearch")}
          onClick={() => {
            onText("");
            field.current?.focus();
          }}
          className="absolute top-0 right-0 h-full"
        >
          <CloseIcon />
        </IconButton>
      )}
    </search>
  );
}
