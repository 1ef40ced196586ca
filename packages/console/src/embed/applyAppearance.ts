/** Applies what the host chose to the page. */
import { applyTheme } from "../app/Theme.ts"
import { applyLanguage, languages } from "../text/Language.ts"
import { accentColors } from "./accent.ts"
import { hostAppearance } from "./Host.ts"

export const applyAppearance = async (): Promise<void> => {
  const { accent, language, theme } = hostAppearance()
  // Style properties that scripts set are permitted by the content security policy.
  for (const [name, value] of Object.entries(accent === null ? {} : accentColors(accent))) {
    document.documentElement.style.setProperty(name, value)
  }
  if (theme === "light" || theme === "dark" || theme === "system") applyTheme(theme)
  const chosen = languages.find((one) => one === language)
  if (chosen !== undefined) await applyLanguage(chosen)
}
