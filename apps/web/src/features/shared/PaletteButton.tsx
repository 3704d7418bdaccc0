import { IconButton } from "../../components/Button";
import { SearchIcon } from "../../components/shell-icons";
import { t } from "../../i18n/keys";
import { openPalette, paletteKeys } from "./overlay";

/** A button that opens the palette. */
export function PaletteButton() {
  const keys = paletteKeys();
  return (
    <IconButton
      label={t("keys.palette.title")}
      title={t("keys.palette.open", { keys: keys.shown })}
      aria-keyshortcuts={keys.aria}
      aria-haspopup="dialog"
      data-testid="open-palette"
      onClick={openPalette}
    >
      <SearchIcon />
    </IconButton>
  );
}
