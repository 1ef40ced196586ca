/** The language of the person: texts, dates and numbers. */
import { createSignal } from "solid-js"
import { readPreference, writePreference } from "../app/Preferences.ts"
import { en, type Texts } from "./en.ts"

export const languages = ["en", "de"] as const
export type Language = (typeof languages)[number]

const isLanguage = (value: string | null | undefined): value is Language =>
  languages.some((language) => language === value)

const [language, setLanguageSignal] = createSignal<Language>("en")
const [current, setCurrent] = createSignal<Texts>(en)

export { language }

/** The locale of dates and numbers: the browser's, if it has this language. */
export const locale = (): string => navigator.languages.find((tag) => tag.slice(0, 2) === language()) ?? language()

/** The texts in the current language. */
export const t = (): Texts => current()

const load: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: () => Promise.resolve(en),
  de: async () => (await import("./de.ts")).de
}

/** Applies a language without storing it. */
export const applyLanguage = async (chosen: Language): Promise<void> => {
  const texts = await load[chosen]()
  document.documentElement.lang = chosen
  setLanguageSignal(chosen)
  setCurrent(() => texts)
}

export const setLanguage = (chosen: Language): void => {
  writePreference("language", chosen)
  void applyLanguage(chosen)
}

/** Applies the stored language, or the first supported one of the browser. */
export const initLanguage = (): Promise<void> => {
  const stored = readPreference("language")
  const preferred = navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage)
  return applyLanguage(isLanguage(stored) ? stored : (preferred ?? "en"))
}
