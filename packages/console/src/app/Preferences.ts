/** Preferences that this browser stores. They contain nothing confidential. */

type Name = "language" | "theme"

/** Returns the stored value. Null without one, or if the browser stores nothing. */
export const readPreference = (name: Name): string | null => {
  try {
    return localStorage.getItem(`weft.${name}`)
  } catch {
    return null
  }
}

export const writePreference = (name: Name, value: string): void => {
  try {
    localStorage.setItem(`weft.${name}`, value)
  } catch {
    // Private windows may refuse. The choice then lasts until the page is closed.
  }
}
