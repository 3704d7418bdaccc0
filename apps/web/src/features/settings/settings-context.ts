import { createContext, useContext } from "react";

export const SettingsContext = createContext<() => void>(() => {});

/** Returns the function that opens the settings. */
export function useSettingsSheet(): () => void {
  return useContext(SettingsContext);
}
