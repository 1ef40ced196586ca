/** The colour scheme: that of the system, or a chosen one. */
import { createSignal } from "solid-js"
import { readPreference, writePreference } from "./Preferences.ts"

export const themes = ["system", "light", "dark"] as const
export type Theme = (typeof themes)[number]

const isTheme = (value: string | null): value is Theme => themes.some((theme) => theme === value)

const [theme, setSignal] = createSignal<Theme>("system")

export { theme }

/** Applies a scheme without storing it. */
export const applyTheme = (chosen: Theme): void => {
  if (chosen === "system") delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
  setSignal(chosen)
}

export const setTheme = (chosen: Theme): void => {
  writePreference("theme", chosen)
  applyTheme(chosen)
}

export const initTheme = (): void => {
  const stored = readPreference("theme")
  applyTheme(isTheme(stored) ? stored : "system")
}
