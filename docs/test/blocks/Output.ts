/** Compares the output of commands with the output on the page. */

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** JSON counts by its value; `…` stands for anything. */
export const isAsShown = (shown: string, printed: string, language: string): boolean => {
  const [expected, actual] = [shown, printed].map((text) => (language === "json" ? flat(text) : trimmed(text)))
  return new RegExp(`^${(expected ?? "").split("…").map(escaped).join("[\\s\\S]*")}$`).test(actual ?? "")
}

const flat = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}

const trimmed = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trim()
